/// Why nothing more of a body arrives.
package enum BodyEnding: Sendable {
    /// The body is complete.
    case complete
    /// The consumer canceled; `byTask` if its task was canceled.
    case canceled(byTask: Bool)
    /// The connection, the origin or the client failed.
    case failed(RepriseError)

    /// What a consumer gets that waits for more than the end.
    package var error: any Error { if case .failed(let error) = self { error } else { CancellationError() } }
}

extension BodyEnding: Equatable {
    /// Failures are equal if their codes are.
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.complete, .complete): true
        case (.canceled(let left), .canceled(let right)): left == right
        case (.failed(let left), .failed(let right)): left.code == right.code
        default: false
        }
    }
}
