package rest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/files"
	"bankgraph/core/page"
)

var (
	uploadsV1 = dialect{
		success: bare, failure: failureC11, lines: table("BULKFILE_REQUEST_INVALID", "BULKFILE_ACCESS_DENIED",
			line{is: files.ErrSame, status: http.StatusConflict, code: "BULKFILE_DUPLICATE"},
			line{is: files.ErrTooLarge, status: http.StatusRequestEntityTooLarge, code: "BULKFILE_REQUEST_INVALID"},
			line{is: errMultipart, status: http.StatusUnsupportedMediaType, code: "BULKFILE_REQUEST_INVALID"},
			wrong("fileType", fault.Malformed, "UnsupportedFileTypeException"),
			line{kind: fault.Internal, status: http.StatusInternalServerError, code: "BULKFILE_INTERNAL_ERROR"}),
	}

	fileSearch = dialect{
		success: successV3, failure: failureC11, lines: table("BULKFILE_SEARCH_ERROR", "BULKFILE_ACCESS_DENIED",
			because(files.ErrNothing, "BULKFILE_REQUEST_INVALID"),
			because(files.ErrNoEntity, "BULKFILE_TOKENLE_NOTFOUND"),
			line{is: files.ErrMismatch, status: http.StatusConflict, code: "BULKFILE_DATA_MISMATCH"},
			wrong("fileNumber", "", "FILENUMBER_NUMBER"),
			wrong("page", "", "VALIDATION_ERROR"), wrong("limit", "", "VALIDATION_ERROR"),
			line{kind: fault.Internal, status: http.StatusInternalServerError, code: "BULKFILE_INTERNAL_ERROR"}),
	}

	filePaymentsV1 = dialect{
		success: successV3, failure: failureC11, lines: table("VALIDATION_ERROR", "BULKFILE_ACCESS_DENIED",
			because(files.ErrNotFound, "BulkFileNotFoundException"),
			wrong("fileNumber", "", "FILENUMBER_NUMBER"),
			line{kind: fault.Internal, status: http.StatusInternalServerError, code: "BULKFILE_INTERNAL_ERROR"}),
	}

	fileDecisions = dialect{
		success: bare, failure: failureC11, lines: table("BULKFILE_REQUEST_INVALID", "BULKFILE_ACCESS_DENIED",
			because(files.ErrNotFound, "BulkFileNotFoundException"),
			wrong("fileNumber", "", "FILENUMBER_NUMBER"),
			line{kind: fault.Internal, status: http.StatusInternalServerError, code: "BULKFILE_INTERNAL_ERROR"}),
	}
)

var (
	errMultipart = fault.New(fault.Invalid, "request.multipart",
		"the content type must be multipart/form-data, with the file in the part file")
	errCut = fault.Field("file", "file", fault.Malformed, "did not arrive whole")
)

const uploadPath = "/v1/payments/customers/"

// IsUpload reports whether a request brings a file: its body may be as large as a file, and may take its
// time.
func IsUpload(r *http.Request) bool {
	path, is := strings.CutPrefix(r.URL.Path, uploadPath)
	parts := strings.Split(path, "/")
	return r.Method == http.MethodPost && (is && len(parts) == 3 && parts[1] == "files" ||
		r.URL.Path == oldFilesPath)
}

// UploadTimeout is how long a file may take until it has arrived and is stored.
const UploadTimeout = time.Minute

// patient gives a file the time that it may take, now that it is known who brings it.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// not every connection has one
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(UploadTimeout))
		next.ServeHTTP(w, r)
	})
}

func (a *api) uploadFile(r *http.Request) (answer, error) {
	q := read(r)
	return a.takeFile(q, files.Upload{
		Customer: inPath(q, "customerUID", customers.ParseUID), Type: inPath(q, "fileType", files.ParseFileType),
	})
}

// takeFile takes in the file of a form.
func (a *api) takeFile(q *reader, in files.Upload) (answer, error) {
	r, options := q.r, q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	in.Open = func(counted files.Counting) (string, io.Reader, error) {
		r.Body = countedBody{counted(r.Body), r.Body}
		return fileIn(r)
	}
	if place := PlaceOf(r.Context()); place != nil {
		in.Cut = place.Cut
	}
	out, err := a.core.Files.Upload(r.Context(), in, options)
	return done(http.StatusOK, out.Receipt, uploadTaken{fmt.Sprintf(
		"File %s has arrived with the file number %s, and is checked now", out.Result.Name, out.Result.UID)}), err
}

// countedBody is a body that is read through what counts it.
type countedBody struct {
	io.Reader
	io.Closer
}

// mostAround bounds what a form has beside its file, before it and after it: what describes the parts is kept
// in memory.
const mostAround = 64 << 10

// envelope is the body of a form, of which only so much may be read.
type envelope struct {
	io.ReadCloser
	left int64
}

var errAround = fault.Field("file", "file", fault.Max, "must come in a form with at most 64 KiB beside it")

func (e *envelope) Read(into []byte) (int, error) {
	if e.left <= 0 {
		return 0, errAround
	}
	n, err := e.ReadCloser.Read(into[:min(int64(len(into)), e.left)])
	e.left -= int64(n)
	return n, err
}

// fileIn begins to read the file of a form.
func fileIn(r *http.Request) (name string, content io.Reader, err error) {
	body := &envelope{r.Body, mostAround}
	r.Body = body
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, errMultipart
	}
	file, err := filePart(parts)
	if err != nil {
		return "", nil, err
	}
	body.left = math.MaxInt64
	return file.FileName(), &onlyFile{file, parts, body}, nil
}

// uploadTaken answers an upload.
type uploadTaken struct {
	Message string `json:"message"`
}

// filePart finds the part file of a form.
func filePart(parts *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fault.Field("file", "file", fault.Required, "is required: the part file of the form")
		case err != nil:
			return nil, notWhole(err)
		case part.FormName() == "file":
			return part, nil
		}
	}
}

// onlyFile is the text of a part, which must be the last one with a file.
type onlyFile struct {
	*multipart.Part
	parts *multipart.Reader
	body  *envelope
}

func (f *onlyFile) Read(into []byte) (int, error) {
	n, err := f.Part.Read(into)
	if err == nil || n > 0 && errors.Is(err, io.EOF) {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		return n, notWhole(err)
	}
	f.body.left = mostAround
	for {
		part, after := f.parts.NextPart()
		switch {
		case errors.Is(after, io.EOF):
			if _, err := io.Copy(io.Discard, f.body); err != nil { // what may follow the form
				return 0, notWhole(err)
			}
			return 0, io.EOF
		case after != nil:
			return 0, notWhole(after)
		case part.FormName() == "file":
			return 0, fault.Field("file", "file", fault.Malformed, "must be given once: one request brings one file")
		}
	}
}

// notWhole tells a body that did not arrive whole from one that is too large, or is read no further.
func notWhole(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return files.ErrTooLarge
	}
	if why, known := fault.Of(err); known { // too much beside it, or its caller may not come in any more
		return why
	}
	return errCut
}

func (a *api) searchFilesV1(r *http.Request) (answer, error) {
	q := readBody(r)
	name, number := fileSearchIn(q)
	sheet := q.page(filePages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Files.LookAnd(r.Context(), name, number, sheet.window())
	return a.filesOf(r, found, sheet), err
}

// searchFilesV2 ignores the page where a number is given, which one file has at most.
func (a *api) searchFilesV2(r *http.Request) (answer, error) {
	q := readBody(r)
	name, number := fileSearchIn(q)
	sheet := pageRequest{number: filePages.first, first: filePages.first, size: filePages.usual}
	if number == nil {
		sheet = q.page(filePages)
	}
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Files.Look(r.Context(), name, number, sheet.window())
	return a.filesOf(r, found, sheet), err
}

func fileSearchIn(q *reader) (name string, number *files.FileUID) {
	f := q.fields()
	return f.text("fileName").Value, idIn(f, files.ParseFileUID, "fileNumber")
}

func (a *api) filesOf(r *http.Request, found page.Counted[*files.ShownFile], sheet pageRequest) answer {
	zone := zoneOf(r)
	return list(found.Items, found.Total, sheet,
		func(f *files.ShownFile) fileRecord { return fileRecordOf(f, zone) })
}

func (a *api) listFilePayments(r *http.Request) (answer, error) {
	q := read(r)
	uid, sheet := inPath(q, "fileNumber", files.ParseFileUID), q.page(filePages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Files.PaymentsOf(r.Context(), uid, sheet.window())
	zone := zoneOf(r)
	return list(found.Items, found.Total, sheet,
		func(l *files.ShownLine) filePayment { return filePaymentOf(l, zone) }), err
}
