//! The hyper server of the `http` scenario: two fixed bodies, one thread per core. It listens on a free port of
//! 127.0.0.1, prints `{"port":N}`, and ends when its standard input is closed.
use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const TEXT: &[u8] = b"Hello, World!";

async fn answer(
    request: Request<hyper::body::Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, kind, body) = match request.uri().path() {
        "/plaintext" => (StatusCode::OK, "text/plain", Bytes::from_static(TEXT)),
        // Encoded for each request, as the other servers do.
        "/json" => (
            StatusCode::OK,
            "application/json",
            Bytes::from(serde_json::json!({ "hello": "world" }).to_string()),
        ),
        _ => (StatusCode::NOT_FOUND, "text/plain", Bytes::new()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // A client that ends its connection is no failure of the server.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{{\"port\":{}}}", listener.local_addr()?.port());
    tokio::spawn(serve(listener));
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    // The runtime would wait for the thread that reads standard input.
    std::process::exit(0);
}
