package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	rows = 1000
	dim  = 4
)

func testVectors() []float32 {
	vectors := make([]float32, rows*dim)
	for i := range vectors {
		vectors[i] = float32(i) / 2
	}
	return vectors
}

var testLimits = limits{1 << 20, 50_000, 20, time.Minute, time.Minute}

func newTables(t *testing.T) *tables {
	t.Helper()
	table, err := newTable(testVectors(), dim)
	if err != nil {
		t.Fatal(err)
	}
	tables := &tables{current: table}
	t.Cleanup(func() { tables.Close() })
	return tables
}

func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(newHandler(newTables(t), testLimits).routes())
	t.Cleanup(server.Close)
	return server
}

func post(t *testing.T, url, format string, body io.Reader) (int, []byte) {
	t.Helper()
	response, err := http.Post(url+"/lookup", format, body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, content
}

func rawIDs(ids ...int64) io.Reader {
	content, _ := binary.Append(nil, binary.LittleEndian, ids)
	return bytes.NewReader(content)
}

func TestJSON(t *testing.T) {
	status, content := post(t, newServer(t).URL, jsonType, strings.NewReader(`{"ids": [2, 0]}`))
	if want := `{"dim":4,"vectors":[[4,4.5,5,5.5],[0,0.5,1,1.5]]}` + "\n"; status != 200 || string(content) != want {
		t.Errorf("%d: %s", status, content)
	}
	status, content = post(t, newServer(t).URL, jsonType, strings.NewReader(`{"ids": []}`))
	if status != 200 || string(content) != `{"dim":4,"vectors":[]}`+"\n" {
		t.Errorf("%d: %s", status, content)
	}
}

func TestRaw(t *testing.T) {
	status, content := post(t, newServer(t).URL, rawType, rawIDs(2, 999))
	vectors := make([]float32, len(content)/4)
	if _, err := binary.Decode(content, binary.LittleEndian, vectors); err != nil {
		t.Fatal(err)
	}
	if want := []float32{4, 4.5, 5, 5.5, 1998, 1998.5, 1999, 1999.5}; status != 200 || !slices.Equal(vectors, want) {
		t.Errorf("%d: %v", status, vectors)
	}
}

func TestInvalidIDIsReportedWithItsPosition(t *testing.T) {
	server := newServer(t)
	ids := make([]int64, 40_000) // The service looks up several portions.
	ids[30_000], ids[39_999] = rows, -1
	for _, request := range []struct {
		format          string
		body            io.Reader
		position, value int64
	}{
		{jsonType, strings.NewReader(`{"ids": [0, -5, 1000]}`), 1, -5},
		{rawType, rawIDs(ids...), 30_000, rows},
	} {
		status, content := post(t, server.URL, request.format, request.body)
		var response struct {
			Error                  string
			Position, Value, Limit int64
		}
		if err := json.Unmarshal(content, &response); err != nil {
			t.Fatal(err)
		}
		if status != 400 || response.Error == "" || response.Position != request.position || response.Value != request.value ||
			response.Limit != rows {
			t.Errorf("%d: %s", status, content)
		}
	}
}

func TestInvalidRequestsReturnErrors(t *testing.T) {
	server := newServer(t)
	for _, request := range []struct {
		format, body string
		status       int
	}{
		{jsonType, `{"ids": [1.5]}`, 400}, {jsonType, `{"ids": ["a"]}`, 400}, {jsonType, `{"ids": [1`, 400},
		{jsonType, ``, 400}, {jsonType, `{"ids": [1]} more`, 400}, {jsonType, `{"ids": [9223372036854775808]}`, 400},
		{rawType, "1234567", 400}, {"text/plain", "1", 415}, {"", "1", 415},
		{jsonType, `{"ids": [` + strings.Repeat("1, ", 1<<19) + `1]}`, 413},
		{rawType, strings.Repeat("12345678", 1<<18), 413},
	} {
		status, content := post(t, server.URL, request.format, strings.NewReader(request.body))
		if status != request.status || !strings.Contains(string(content), "error") {
			t.Errorf("%s %.20q: %d, %s", request.format, request.body, status, content)
		}
	}
	response, err := http.Get(server.URL + "/lookup")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", response.StatusCode)
	}
}

func TestCanceledRequestGetsNoResponse(t *testing.T) {
	h := newHandler(newTables(t), testLimits)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	request := httptest.NewRequestWithContext(ctx, "POST", "/lookup", rawIDs(1, 2))
	request.Header.Set("Content-Type", rawType)
	response := httptest.NewRecorder()
	h.routes().ServeHTTP(response, request)
	if response.Body.Len() != 0 {
		t.Errorf("a canceled request got a response: %q", response.Body)
	}
	if _, _, err := h.tables.lookup(ctx, make([]int64, 100_000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// One client closes the connection during its request. Another client does not read the response.
func TestBrokenConnectionsDoNotStopTheService(t *testing.T) {
	server := newServer(t)
	address := strings.TrimPrefix(server.URL, "http://")
	for _, length := range []int{1 << 16, 16} {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(connection, "POST /lookup HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			rawType, length, strings.Repeat("\x00", 16))
		connection.Close()
	}
	if status, _ := post(t, server.URL, rawType, rawIDs(1)); status != 200 {
		t.Errorf("the next client got %d", status)
	}
}

func TestConcurrentClients(t *testing.T) {
	server := newServer(t)
	var group sync.WaitGroup
	for client := range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := range 20 {
				id := (client*61 + round) % rows
				response, err := http.Post(server.URL+"/lookup", rawType, rawIDs(int64(id)))
				if err != nil {
					t.Error(err)
					return
				}
				content, _ := io.ReadAll(response.Body)
				response.Body.Close()
				want, _ := binary.Append(nil, binary.LittleEndian, testVectors()[id*dim:(id+1)*dim])
				if !bytes.Equal(content, want) {
					t.Errorf("id %d: %x", id, content)
				}
			}
		}()
	}
	group.Wait()
}

// The service responds to a request that is running when the service stops.
func TestShutdownCompletesCurrentRequests(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	started, release := make(chan struct{}), make(chan struct{})
	routes := newHandler(newTables(t), testLimits).routes()
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-release
		routes.ServeHTTP(w, r)
	})
	ctx, stop := context.WithCancel(context.Background())
	served, statuses := make(chan error, 1), make(chan int, 1)
	go func() { served <- serve(ctx, listener, slow, testLimits) }()
	go func() {
		response, err := http.Post("http://"+listener.Addr().String()+"/lookup", rawType, rawIDs(1))
		if err != nil {
			statuses <- 0
			return
		}
		response.Body.Close()
		statuses <- response.StatusCode
	}()
	<-started
	stop()
	select {
	case err := <-served:
		t.Fatalf("did not wait for the request: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if status, err := <-statuses, <-served; status != 200 || err != nil {
		t.Errorf("%d, %v", status, err)
	}
}

func TestTooManyIDsAreRefused(t *testing.T) {
	server := newServer(t)
	ids := make([]int64, testLimits.ids+1)
	text := `{"ids": [` + strings.Repeat("0,", testLimits.ids) + `0]}`
	for format, body := range map[string]io.Reader{rawType: rawIDs(ids...), jsonType: strings.NewReader(text)} {
		status, content := post(t, server.URL, format, body)
		if status != http.StatusRequestEntityTooLarge || !strings.Contains(string(content), "50001 ids, a request may have 50000") {
			t.Errorf("%s: %d, %.80s", format, status, content)
		}
	}
	if status, _ := post(t, server.URL, rawType, rawIDs(ids[1:]...)); status != 200 {
		t.Errorf("the largest request got %d", status)
	}
}

func TestFullServiceRefusesRequests(t *testing.T) {
	bounds := testLimits
	bounds.requests = 1
	handler := newHandler(newTables(t), bounds)
	server := httptest.NewServer(handler.routes())
	defer server.Close()
	handler.slots <- struct{}{}
	response, err := http.Post(server.URL+"/lookup", rawType, rawIDs(1))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("a full service returned %d, %v", response.StatusCode, response.Header)
	}
	<-handler.slots
	for range 3 {
		if status, _ := post(t, server.URL, rawType, rawIDs(1)); status != 200 {
			t.Errorf("the next client got %d", status)
		}
		waitForSlots(handler)
	}
}

// waitForSlots waits until no request is running. A client may have its response before the slot is returned.
func waitForSlots(h *handler) {
	for len(h.slots) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// sendSlowly sends a request without the last byte of its body, which has one id.
func sendSlowly(t *testing.T, address string) net.Conn {
	t.Helper()
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	fmt.Fprintf(client, "POST /lookup HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 8\r\n\r\n%s",
		rawType, "\x02\x00\x00\x00\x00\x00\x00")
	return client
}

// More clients than the service has slots send all but the last byte of their bodies.
func TestSlowSendersDoNotStopTheService(t *testing.T) {
	bounds := testLimits
	bounds.requests = 2
	handler := newHandler(newTables(t), bounds)
	begun := make(chan struct{}, 100)
	routes := handler.routes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		routes.ServeHTTP(w, r)
	}))
	defer server.Close()
	var clients []net.Conn
	for range 16 {
		clients = append(clients, sendSlowly(t, strings.TrimPrefix(server.URL, "http://")))
		<-begun
	}
	for format, body := range map[string]io.Reader{rawType: rawIDs(1), jsonType: strings.NewReader(`{"ids": [1]}`)} {
		if status, content := post(t, server.URL, format, body); status != 200 {
			t.Errorf("%s: %d, %s", format, status, content)
		}
		waitForSlots(handler)
	}
	for _, client := range clients { // They get their rows as soon as they have sent their ids.
		if _, err := client.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		want, _ := binary.Append(nil, binary.LittleEndian, testVectors()[2*dim:3*dim])
		if response.StatusCode != 200 || err != nil || !bytes.Equal(content, want) {
			t.Errorf("%d: %x, %v", response.StatusCode, content, err)
		}
		waitForSlots(handler)
	}
}

func TestClientThatDoesNotSendIsDisconnected(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	bounds := testLimits
	bounds.read = 100 * time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, newHandler(newTables(t), bounds).routes(), bounds) }()
	client := sendSlowly(t, listener.Addr().String())
	response, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("%v, %v", response, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// The client requests 16 MiB, which is more than the buffers of the sockets, and reads nothing.
func TestClientThatDoesNotReadIsDisconnected(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	const ids = 1 << 20
	handler := newHandler(newTables(t), limits{bytes: 8 * ids, ids: ids, requests: 1})
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- serve(ctx, listener, handler.routes(), limits{read: time.Minute, write: 2 * time.Second})
	}()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fmt.Fprintf(client, "POST /lookup HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", rawType, 8*ids)
	if _, err := client.Write(make([]byte, 8*ids)); err != nil {
		t.Fatal(err)
	}
	for len(handler.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(closeTimeout - time.Second):
		t.Error("the service waits for a client that does not read")
	}
}

func writeVectors(t *testing.T, path string, vectors []float32) {
	t.Helper()
	content, _ := binary.Append(nil, binary.LittleEndian, vectors)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Clients get rows of one version while the table is replaced.
func TestReload(t *testing.T) {
	path, tables := filepath.Join(t.TempDir(), "table"), newTables(t)
	ctx, stop := context.WithCancel(context.Background())
	signals, ended := make(chan os.Signal), make(chan struct{})
	go func() { reload(ctx, signals, tables, path, dim); close(ended) }()
	ids := []int64{0, rows - 1}
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for ctx.Err() == nil {
				vectors, _, err := tables.lookup(context.Background(), ids)
				if err != nil || vectors[dim] != vectors[0]+(rows-1)*dim/2 {
					t.Errorf("%v, %v", vectors, err)
					return
				}
			}
		}()
	}
	for version := range 10 {
		vectors := testVectors()
		for i := range vectors {
			vectors[i] += float32(version)
		}
		writeVectors(t, path+".new", vectors)
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		signals <- syscall.SIGHUP
		signals <- syscall.SIGHUP // It is received after the file has been read.
	}
	writeVectors(t, path, testVectors()[:1]) // The service keeps its table if the file is invalid.
	signals <- syscall.SIGHUP
	stop()
	<-ended
	group.Wait()
	if vectors, _, err := tables.lookup(context.Background(), ids); err != nil || vectors[0] != 9 {
		t.Errorf("after the last reload: %v, %v", vectors, err)
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	writeVectors(t, path, testVectors())
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := run(stopped, path, dim, "localhost:0", testLimits); err != nil {
		t.Error(err)
	}
	for _, wrong := range []struct {
		path string
		dim  int
	}{{path + "x", dim}, {path, 0}, {path, 7}} {
		if run(stopped, wrong.path, wrong.dim, "localhost:0", testLimits) == nil {
			t.Errorf("%+v: no error", wrong)
		}
	}
}
