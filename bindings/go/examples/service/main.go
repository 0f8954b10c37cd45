// Command service is an HTTP service. A request has ids, and the response has their vectors.
//
//	service -table vectors.f32 -dim 64 -address localhost:8080
//	curl -H 'Content-Type: application/json' -d '{"ids": [3, 0]}' localhost:8080/lookup
//
// The table is a file of little-endian float32. After an interrupt, the service completes its current requests and
// ends.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	readTimeout  = 10 * time.Second
	closeTimeout = 10 * time.Second
	maxBytes     = 8 << 20
)

func main() {
	path := flag.String("table", "", "file of little-endian float32 vectors")
	dim := flag.Int("dim", 0, "number of elements of a vector")
	address := flag.String("address", "localhost:8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *path, *dim, *address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string, dim int, address string) error {
	vectors, err := readVectors(path)
	if err != nil {
		return err
	}
	table, err := newTable(vectors, dim)
	if err != nil {
		return err
	}
	defer table.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("%d vectors of %d at http://%s/lookup", len(vectors)/dim, dim, listener.Addr())
	return serve(ctx, listener, (&handler{table, maxBytes}).routes())
}

func readVectors(path string) ([]float32, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	vectors := make([]float32, len(content)/4)
	return vectors, binary.Read(bytes.NewReader(content), binary.LittleEndian, vectors)
}

// serve serves requests until ctx is done. Then it completes the current requests.
func serve(ctx context.Context, listener net.Listener, routes http.Handler) error {
	server := &http.Server{Handler: routes, ReadTimeout: readTimeout}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
