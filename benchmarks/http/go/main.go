// The net/http server of the `http` scenario: two fixed bodies. It listens on a free port of 127.0.0.1,
// prints `{"port":N}`, and ends when its standard input is closed.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

type greeting struct {
	Hello string `json:"hello"`
}

func main() {
	text := []byte("Hello, World!")
	mux := http.NewServeMux()
	mux.HandleFunc("/plaintext", func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		writer.Write(text)
	})
	mux.HandleFunc("/json", func(writer http.ResponseWriter, _ *http.Request) {
		body, err := json.Marshal(greeting{Hello: "world"})
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		writer.Write(body)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	io.Copy(io.Discard, os.Stdin)
}
