package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/files"
)

type (
	BulkFileConnection     = Connection[files.BulkFile]
	BulkFileEdge           = Edge[files.BulkFile]
	BulkFilePayload        = Payload[files.BulkFile]
	BulkFileLineConnection = Connection[files.FileLine]
	BulkFileLineEdge       = Edge[files.FileLine]
)

// FileDraft is what mutations say about a file.
type FileDraft struct {
	UID files.FileUID
	changes.RequestOptions
}
