import Foundation
import HTTPTypes
import Reprise
import Testing
@testable import RepriseAVPlayer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct LoadingErrorTests {
    @Test(arguments: [
        (RepriseError.Code.networkUnavailable, -1009), (.originNotFound, -1003), (.originUnreachable, -1004),
        (.originTimedOut, -1001), (.originBodyTruncated, -1005), (.originMisbehaved, -1011), (.originNotTrusted, -1202),
        (.originRedirectRefused, -1007), (.invalidURL, -1000), (.closed, -999), (.originRefused, -1011),
    ]) func codesAreThoseOfNSURLErrorDomain(_ code: RepriseError.Code, _ expected: Int) {
        let error = LoadingError.make(RepriseError(code, "What happened."))
        #expect(error.domain == NSURLErrorDomain)
        #expect(error.code == expected)
        #expect(error.localizedDescription == "What happened.")
        #expect((error.userInfo[NSUnderlyingErrorKey] as? RepriseError)?.code == code)
    }

    @Test func theSystemsOwnCodeWins() {
        let error = RepriseError(.originUnreachable, "", cause: URLError(.internationalRoamingOff))
        #expect(LoadingError.make(error).code == URLError.Code.internationalRoamingOff.rawValue)
    }

    @Test func noCodeIsZero() {
        struct Odd: Error {}
        for error in [Odd() as any Error, CancellationError(), RepriseError(.storageFull, "")] {
            #expect(LoadingError.make(error).code < 0)
            #expect(LoadingError.make(error).domain == NSURLErrorDomain)
        }
        #expect(LoadingError.make(CancellationError()).code == NSURLErrorCancelled)
    }
}
