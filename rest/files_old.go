package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"bankgraph/core/customers"
	"bankgraph/core/files"
)

// The oldest paths of bulk files do what today's do, in the same words (rest/CONTRACT.md, older paths of bulk
// files).

const oldFilesPath = "/bulkpayment/files"

// uploadFileOld has in its query what today's upload has in its path.
func (a *api) uploadFileOld(r *http.Request) (answer, error) {
	q := read(r)
	return a.takeFile(q, files.Upload{
		Customer: demanded(q, "customerUID", customers.ParseUID),
		Type:     demanded(q, "fileType", files.ParseFileType),
	})
}

// uploadInV1 is the successor of the oldest upload.
func uploadInV1(r *http.Request) string {
	given := r.URL.Query()
	if given.Get("customerUID") == "" || given.Get("fileType") == "" {
		return documented(r)
	}
	return uploadPath + url.PathEscape(given.Get("customerUID")) + "/files/" +
		url.PathEscape(given.Get("fileType"))
}

// approvalInGraphQL is the successor of the decisions on a file.
func approvalInGraphQL(*http.Request) string { return "/graphql" }

// documented is the successor of the list of formats.
func documented(*http.Request) string { return "/docs" }

// fileFormat is a format that is taken in.
type fileFormat struct {
	FileType        string         `json:"fileType"`
	Format          files.FileType `json:"format"`
	Extensions      []string       `json:"extensions"`
	MaximumSize     int64          `json:"maximumSize"`
	MaximumPayments int            `json:"maximumPayments"`
}

func (a *api) listFileFormats(r *http.Request) (answer, error) {
	found, err := a.core.Files.Formats(r.Context())
	return answer{data: each(found, func(f files.Format) fileFormat {
		return fileFormat{f.Word, f.Type, []string{".csv", ".txt"}, f.Size, f.Payments}
	})}, err
}

// oldFileRecord is a file with what is wrong with it as a whole.
type oldFileRecord struct {
	fileRecord
	UploadErrors []uploadError `json:"uploadErrors"`
	// always empty: what is wrong stops a file, or a line of it
	UploadWarnings []uploadError `json:"uploadWarnings"`
}

// uploadError is what is wrong with a file.
type uploadError struct {
	BulkFileID       files.FileUID `json:"bulkFileId"`
	FileNumber       files.FileUID `json:"fileNumber"`
	ValidationCode   string        `json:"validationCode"`
	DisplayMessage   string        `json:"displayMessage"`
	ValidationType   string        `json:"validationType"`
	CreationDateTime time.Time     `json:"creationDateTime"`
}

func (a *api) findFile(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "fileNumber", files.ParseFileUID)
	if q.err != nil {
		return answer{}, q.err
	}
	f, err := a.core.Files.Find(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	zone := zoneOf(r)
	return versioned(f.Version, oldFileRecord{
		fileRecordOf(f, zone), each(f.Faults, func(is files.FileFault) uploadError {
			return uploadError{
				BulkFileID: f.UID, FileNumber: f.UID, ValidationCode: is.Code, DisplayMessage: is.Message,
				ValidationType: batchInError, CreationDateTime: f.UpdatedAt.In(zone),
			}
		}), []uploadError{},
	}), nil
}

func (a *api) approveFile(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options := inPath(q, "fileNumber", files.ParseFileUID), q.options()
	if options.Reason = inBody(q, "comments", text); q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Files.Approve(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, envelopeC3{
		fmt.Sprintf("The approval of file %s is recorded", uid),
	}), err
}

func (a *api) rejectFile(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options := inPath(q, "fileNumber", files.ParseFileUID), q.options()
	if options.Reason = inBody(q, "comments", text); q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Files.Reject(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, envelopeC3{
		fmt.Sprintf("The rejection of file %s is recorded", uid),
	}), err
}
