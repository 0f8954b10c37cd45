// Command service is an HTTP service. A request has ids, and the response has their vectors.
//
//	service -table vectors.f32 -dim 64 -address localhost:8080
//	curl -H 'Content-Type: application/json' -d '{"ids": [3, 0]}' localhost:8080/lookup
//
// The table is a file of little-endian float32. After a SIGHUP, the service reads the file again. Replace the file with
// a rename, so that the service never reads a part of it. After an interrupt, the service completes its current requests
// and ends.
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

// limits bound the memory and the time of requests. A request needs memory for its body, and for its rows in both
// formats. A client that does not send or read is disconnected. The number of connections has no limit: each one that
// sends its body needs memory for it.
type limits struct {
	bytes, ids, requests int // the largest size of a body, of its ids, and the largest number of concurrent requests
	read, write          time.Duration
}

// closeTimeout is longer than the time that the limits allow a request.
const closeTimeout = 20 * time.Second

func main() {
	path := flag.String("table", "", "file of little-endian float32 vectors")
	dim := flag.Int("dim", 0, "number of elements of a vector")
	address := flag.String("address", "localhost:8080", "address to listen on")
	ids := flag.Int("ids", 10_000, "largest number of ids of a request")
	requests := flag.Int("requests", 16, "largest number of concurrent requests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bounds := limits{1 << 20, *ids, *requests, 5 * time.Second, 10 * time.Second}
	if err := run(ctx, *path, *dim, *address, bounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string, dim int, address string, bounds limits) error {
	table, err := openTable(path, dim)
	if err != nil {
		return err
	}
	tables := &tables{current: table}
	defer tables.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	go reload(ctx, hangups, tables, path, dim)
	log.Printf("%d vectors of %d at http://%s/lookup", len(table.vectors)/dim, dim, listener.Addr())
	return serve(ctx, listener, newHandler(tables, bounds).routes(), bounds)
}

// reload reads the file again after each signal, until ctx is done. The service keeps its table if that fails.
func reload(ctx context.Context, signals <-chan os.Signal, tables *tables, path string, dim int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		table, err := openTable(path, dim)
		if err != nil {
			log.Printf("cannot reload the table: %v", err)
			continue
		}
		tables.replace(table)
		log.Printf("reloaded %d vectors", len(table.vectors)/dim)
	}
}

func openTable(path string, dim int) (*table, error) {
	vectors, err := readVectors(path)
	if err != nil {
		return nil, err
	}
	return newTable(vectors, dim)
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
func serve(ctx context.Context, listener net.Listener, routes http.Handler, bounds limits) error {
	server := &http.Server{Handler: routes, ReadTimeout: bounds.read, WriteTimeout: bounds.write}
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
