package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/fairlead/fairlead/internal/api"
)

// answerLog sends a part of a task's output to the server.
func (a *Agent) answerLog(ctx context.Context, r api.LogRequest) {
	reply := a.readLog(r)
	if err := a.options.Client.ReplyLog(ctx, a.options.Name, r.ID, reply); err != nil && ctx.Err() == nil {
		a.log.Warn("output could not be sent", "task", r.Ref, "error", err)
	}
}

func (a *Agent) readLog(r api.LogRequest) api.LogReply {
	x, err := a.logs.ReadAt(r.JobID, r.Task, r.Attempt, r.Offset, r.Limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api.LogReply{Error: "the agent no longer has this output"}
	case err != nil:
		return api.LogReply{Error: err.Error()}
	}
	return api.LogReply{Chunk: api.LogChunk{Data: x.Data, Offset: x.Offset, Size: x.Size}}
}
