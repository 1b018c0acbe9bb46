import HTTPSemantics
import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

/// `Cache-Status` for each way in which a read begins (RFC 9211 §2).
@Suite(.limit(minutes: 1)) struct CacheOutcomeTests {
    @Test(arguments: [
        (CacheOutcome(disposition: .hit), "hit"),
        (CacheOutcome(disposition: .hit, isCollapsed: true, timeToLive: 60), "hit; collapsed"),
        (CacheOutcome(disposition: .hit, timeToLive: -5), "hit; ttl=-5"),
        (CacheOutcome(disposition: .validated, originStatus: 304), "fwd=stale; fwd-status=304"),
        (CacheOutcome(disposition: .validated, forwarded: .request, originStatus: 304), "fwd=request; fwd-status=304"),
        (CacheOutcome(disposition: .partial), "fwd=partial; stored"),
        (CacheOutcome(disposition: .partial, isCollapsed: true), "fwd=partial; stored; collapsed"),
        (CacheOutcome(disposition: .miss), "fwd=miss; stored"),
        (CacheOutcome(disposition: .unknown, originStatus: 200), "fwd=uri-miss; fwd-status=200; stored"),
        (CacheOutcome(disposition: .unknown, forwarded: .stale, originStatus: 304), "fwd=stale; fwd-status=304"),
        (CacheOutcome(disposition: .bypass, originStatus: 200), "fwd=bypass; fwd-status=200"),
    ])
    func statusTells(outcome: CacheOutcome, expected: String) {
        #expect("\(outcome.status)" == "reprise; \(expected)")
    }

    @Test func onlyAResponseThatNoOtherReaderSharesIsTheReadersOwn() {
        #expect(CacheOutcome(disposition: .bypass).isOwnAnswer)
        #expect(CacheOutcome(disposition: .unknown).isOwnAnswer)
        #expect(!CacheOutcome(disposition: .unknown, isCollapsed: true).isOwnAnswer)
        for disposition in [ReadDisposition.hit, .validated, .partial, .miss] {
            #expect(!CacheOutcome(disposition: disposition).isOwnAnswer)
        }
    }
}
