public import Foundation

extension RepriseError: LocalizedError, CustomNSError {
    /// ``message``: what happened and how to remedy it.
    public var errorDescription: String? { message }

    /// `Reprise.RepriseError`.
    public static var errorDomain: String { "Reprise.RepriseError" }

    /// ``Code/number`` of ``code``.
    public var errorCode: Int { code.number }

    /// The message, the error underneath, and the code's name under `RepriseErrorCode`.
    public var errorUserInfo: [String: Any] {
        var information: [String: Any] = [NSLocalizedDescriptionKey: message, "RepriseErrorCode": code.description]
        if let cause { information[NSUnderlyingErrorKey] = cause as NSError }
        return information
    }
}

extension RepriseError.Code {
    /// The code as `NSError` has it: numbers stay as they are, new codes get new ones.
    ///
    /// 0 for a code that another version has made.
    public var number: Int { (Self.numbered.firstIndex(of: self) ?? -1) + 1 }

    /// In the order of their numbers, from 1.
    static let numbered: [Self] = [
        .invalidURL, .invalidArgument, .originNotFound, .networkUnavailable, .originUnreachable, .originNotTrusted,
        .originTimedOut, .originBodyTruncated, .originMisbehaved, .originRedirectRefused, .originForbidden,
        .originRefused, .validatorChanged, .rangeNotSatisfiable, .storageUnavailable, .storageLocked, .storageFull,
        .keyUnavailable, .notStored, .closed, .notDownloadable, .deferred,
    ]
}
