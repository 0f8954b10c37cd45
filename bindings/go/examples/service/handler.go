package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"os"

	"libgather.io/gather"
)

const (
	jsonType = "application/json"
	rawType  = "application/octet-stream"
)

// A handler responds to POST /lookup. The content type of the request sets the format of the ids and of the vectors:
//
//	application/json          {"ids": [3, 0]}       {"dim": 2, "vectors": [[30, 31], [0, 1]]}
//	application/octet-stream  little-endian int64   little-endian float32
//
// An invalid id gives status 400, with position, value and limit. A body or a number of ids that exceeds its limit gives
// status 413. A body that does not arrive in time gives status 408. If too many requests are running, the status is 503.
type handler struct {
	tables *tables
	limits limits
	slots  chan struct{} // contains an element for each running request, whose body has been read
}

func newHandler(tables *tables, bounds limits) *handler {
	return &handler{tables, bounds, make(chan struct{}, bounds.requests)}
}

func (h *handler) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /lookup", h.lookup)
	return mux
}

func (h *handler) lookup(w http.ResponseWriter, r *http.Request) {
	format, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	read, write := formatOf(format)
	if read == nil {
		fail(w, http.StatusUnsupportedMediaType, errors.New("the content type must be "+jsonType+" or "+rawType))
		return
	}
	// A client that sends slowly must not take a slot from the others. The server limits the time to read the body.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.limits.bytes)))
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, errors.New("too many requests are running"))
		return
	}
	ids, err := read(body)
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	if len(ids) > h.limits.ids {
		err := fmt.Errorf("%d ids, a request may have %d", len(ids), h.limits.ids)
		fail(w, http.StatusRequestEntityTooLarge, err)
		return
	}
	vectors, dim, err := h.tables.lookup(r.Context(), ids)
	if r.Context().Err() != nil {
		return // The client has closed the connection.
	}
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", format)
	if err := write(w, vectors, dim); err != nil {
		log.Printf("cannot write the response: %v", err)
	}
}

func formatOf(name string) (func([]byte) ([]int64, error), func(io.Writer, []float32, int) error) {
	switch name {
	case jsonType:
		return readJSON, writeJSON
	case rawType:
		return readRaw, writeRaw
	}
	return nil, nil
}

func readJSON(body []byte) ([]int64, error) {
	var request struct {
		IDs []int64 `json:"ids"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(&request); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("the request is followed by more data")
	}
	return request.IDs, nil
}

func writeJSON(w io.Writer, vectors []float32, dim int) error {
	response := struct {
		Dim     int         `json:"dim"`
		Vectors [][]float32 `json:"vectors"`
	}{dim, make([][]float32, len(vectors)/dim)}
	for i := range response.Vectors {
		response.Vectors[i] = vectors[i*dim : (i+1)*dim]
	}
	return json.NewEncoder(w).Encode(response)
}

func readRaw(body []byte) ([]int64, error) {
	if len(body)%8 != 0 {
		return nil, errors.New("the size of the body is not a multiple of 8")
	}
	ids := make([]int64, len(body)/8)
	_, err := binary.Decode(body, binary.LittleEndian, ids)
	return ids, err
}

func writeRaw(w io.Writer, vectors []float32, _ int) error {
	return binary.Write(w, binary.LittleEndian, vectors)
}

// statusOf returns 500 for errors of the library. Every other error is an error of the request.
func statusOf(err error) int {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.As(err, new(*gather.Error)):
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func fail(w http.ResponseWriter, status int, err error) {
	response := map[string]any{"error": err.Error()}
	var bad *badID
	if errors.As(err, &bad) {
		response["position"], response["value"], response["limit"] = bad.Position, bad.Value, bad.Limit
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(response); err != nil {
		log.Printf("cannot write the response: %v", err)
	}
}
