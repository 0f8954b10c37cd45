package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"

	"libgather/gather"
)

const (
	jsonType = "application/json"
	rawType  = "application/octet-stream"
)

// A handler answers POST /lookup. The request's content type says how ids come and vectors go:
//
//	application/json          {"ids": [3, 0]}       {"dim": 2, "vectors": [[30, 31], [0, 1]]}
//	application/octet-stream  little-endian int64   little-endian float32
//
// A bad id is 400 with its position, value and limit; a body beyond the limit is 413.
type handler struct {
	table    *table
	maxBytes int64 // of a request's body
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
	ids, err := read(http.MaxBytesReader(w, r.Body, h.maxBytes))
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	vectors, err := h.table.lookup(r.Context(), ids)
	if r.Context().Err() != nil {
		return // nobody is there to answer
	}
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", format)
	if err := write(w, vectors, h.table.dim); err != nil {
		log.Printf("the answer did not get through: %v", err)
	}
}

func formatOf(name string) (func(io.Reader) ([]int64, error), func(io.Writer, []float32, int) error) {
	switch name {
	case jsonType:
		return readJSON, writeJSON
	case rawType:
		return readRaw, writeRaw
	}
	return nil, nil
}

func readJSON(body io.Reader) ([]int64, error) {
	var request struct {
		IDs []int64 `json:"ids"`
	}
	decoder := json.NewDecoder(body)
	if err := decoder.Decode(&request); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the request")
	}
	return request.IDs, nil
}

func writeJSON(w io.Writer, vectors []float32, dim int) error {
	answer := struct {
		Dim     int         `json:"dim"`
		Vectors [][]float32 `json:"vectors"`
	}{dim, make([][]float32, len(vectors)/dim)}
	for i := range answer.Vectors {
		answer.Vectors[i] = vectors[i*dim : (i+1)*dim]
	}
	return json.NewEncoder(w).Encode(answer)
}

func readRaw(body io.Reader) ([]int64, error) {
	bytes, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if len(bytes)%8 != 0 {
		return nil, errors.New("the body is no whole number of int64 ids")
	}
	ids := make([]int64, len(bytes)/8)
	_, err = binary.Decode(bytes, binary.LittleEndian, ids)
	return ids, err
}

func writeRaw(w io.Writer, vectors []float32, _ int) error {
	return binary.Write(w, binary.LittleEndian, vectors)
}

// statusOf blames the request for everything but what the library reports.
func statusOf(err error) int {
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, new(*gather.Error)):
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func fail(w http.ResponseWriter, status int, err error) {
	answer := map[string]any{"error": err.Error()}
	var bad *badID
	if errors.As(err, &bad) {
		answer["position"], answer["value"], answer["limit"] = bad.Position, bad.Value, bad.Limit
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		log.Printf("the answer did not get through: %v", err)
	}
}
