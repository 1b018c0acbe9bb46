/// What HTTP clients report about connections, in one wording; `name` is a host with its port, never a query.
extension RepriseError {
    package static func originNotFound(_ host: String, cause: any Error) -> RepriseError {
        RepriseError(
            .originNotFound, "The name \(host) cannot be resolved; check its spelling and the network.", cause: cause)
    }

    package static func originUnreachable(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originUnreachable, "\(name) cannot be reached; check that it is up and that nothing blocks the way.",
            cause: cause)
    }

    package static func originNotTrusted(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originNotTrusted,
            "TLS with \(name) failed: its certificate is not trusted for that name, or it speaks no TLS 1.2. "
                + "Check the name, the clock and the trusted roots.", cause: cause)
    }

    /// `what` is what it did not do: "did not answer".
    package static func originTimedOut(_ name: String, what: String, within time: Duration) -> RepriseError {
        RepriseError(.originTimedOut, "\(name) \(what) within \(time / .seconds(1)) s; try again later.")
    }

    package static func originBodyTruncated(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originBodyTruncated,
            "\(name) ended the connection before the end of the body; try again later.",
            cause: cause)
    }
}
