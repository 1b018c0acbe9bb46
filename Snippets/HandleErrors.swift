// Distinguishes the errors of a read.

// snippet.hide
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
let film = try cache.resource(for: "https://example.com/film.mp4")
// snippet.show
do {
    for try await piece in try await film.read(.from(1_000_000)) { print("\(piece.count) bytes") }
} catch let error as RepriseError {
    switch error.code {
    case .originRefused: print("the origin answered", error.refusal?.head.status.code ?? 0)
    case .rangeNotSatisfiable: print("the file is shorter")
    case .validatorChanged: print("the file changed while it was read; open it again")
    default: print(error)  // one line: code, message, cause
    }
}
// snippet.hide
await cache.close()
await origin.shutdown()
