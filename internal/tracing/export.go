package tracing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// exporter sends spans as OTLP over HTTP. The exporter of the OpenTelemetry project does the same, but it
// would add gRPC: nine megabytes for one request.
type exporter struct {
	url    string
	header http.Header
	client *http.Client
}

// newExporter reads the environment variables of the OpenTelemetry specification; it returns nil if they name
// no collector.
func newExporter(getenv func(string) string) (*exporter, error) {
	address := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); address == "" && base != "" {
		address = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if address == "" || getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %q is not the address of a collector: expected http://HOST:4318", address)
	}
	e := &exporter{url: address, header: http.Header{"Content-Type": {"application/x-protobuf"}}, client: &http.Client{Timeout: 10 * time.Second}}
	for pair := range strings.SplitSeq(getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if text, err := url.QueryUnescape(strings.TrimSpace(value)); err == nil {
				e.header.Set(strings.TrimSpace(name), text)
			}
		}
	}
	return e, nil
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	scope := &otlp.ScopeSpans{Scope: &common.InstrumentationScope{Name: spans[0].InstrumentationScope().Name}}
	for _, s := range spans {
		scope.Spans = append(scope.Spans, encode(s))
	}
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: []*otlp.ResourceSpans{{
		Resource: &resource.Resource{Attributes: attributes(spans[0].Resource().Attributes())}, ScopeSpans: []*otlp.ScopeSpans{scope},
	}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = e.header.Clone()
	resp, err := e.client.Do(req)
	if err != nil {
		return fmt.Errorf("tell the collector of spans: %w", err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector at %s refuses spans: %s", e.url, resp.Status)
	}
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

func encode(s sdk.ReadOnlySpan) *otlp.Span {
	trace, id, parent := s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
	out := &otlp.Span{
		TraceId: trace[:], SpanId: id[:], Name: s.Name(), Kind: otlp.Span_SpanKind(s.SpanKind()),
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		Attributes: attributes(s.Attributes()), Status: &otlp.Status{Message: strings.ToValidUTF8(s.Status().Description, "?")},
	}
	if s.Parent().IsValid() {
		out.ParentSpanId = parent[:]
	}
	if s.Status().Code.String() == "Error" {
		out.Status.Code = otlp.Status_STATUS_CODE_ERROR
	}
	return out
}

func attributes(all []attribute.KeyValue) []*common.KeyValue {
	var out []*common.KeyValue
	for _, a := range all {
		out = append(out, &common.KeyValue{Key: string(a.Key), Value: anyOf(a.Value)})
	}
	return out
}

func anyOf(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &common.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "?")}})
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	}
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(v.String(), "?")}}
}
