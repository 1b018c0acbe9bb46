import HTTPSemantics

/// Counts each request that the client sends and its outcome, measures the time to its head, and reports
/// violations of HTTP in its response.
struct MeteredOrigin: Origin {
    /// The places for the numbers and the reports.
    struct Meters {
        let reporter: Reporter
        let timings: OriginTimings
        let awayHosts, silentHosts: AwayHosts
    }

    private let client: any Origin
    private let meters: Meters
    private let clock: CacheClock
    private let keyPolicy: CacheKeyPolicy

    init(_ client: any Origin, meters: Meters, configuration: MediaCache.Configuration) {
        (self.client, self.meters) = (client, meters)
        (clock, keyPolicy) = (configuration.clock, configuration.keyPolicy)
    }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        let (reporter, host) = (meters.reporter, request.account)
        var request = request
        let key = request.context.key ?? keyPolicy.key(for: request.url)
        request.context.onOddity = { oddity in
            reporter.remark("Its responses violate HTTP/1.1, and were read anyway.", oddity, about: key, at: host)
        }
        reporter.count { $0.statistics.originRequests += 1 }
        let (time, start) = (Int64(clock.now()), clock.elapsed())
        do {
            var response = try await client.send(request)
            let outcome = OriginCounts.Outcome(status: response.head.status.code)
            let delay = response.onStored == nil ? clock.elapsed() - start : nil
            if let delay { meters.timings.noteFirstByte(delay, from: host) }
            reporter.count { $0.origins.count(host) { $0.noteRequest(outcome, after: delay) } }
            meters.awayHosts.noteAnswer(from: request.url.authority)
            meters.silentHosts.noteAnswer(from: request.url.authority)
            (response.asked, response.requestTime) = (request, time)
            response.head.repair(
                askedFor: request.context.range, now: HTTPDate(secondsSince1970: clock.moment.date))
            return response
        } catch {
            let outcome = error is CancellationError ? OriginCounts.Outcome.canceled : .failed
            reporter.count { $0.origins.count(host) { $0.noteRequest(outcome) } }
            meters.awayHosts.note(error, from: request.url.authority)
            if (error as? RepriseError)?.code == .originTimedOut {
                meters.silentHosts.noteFailure(of: request.url.authority)
            }
            throw error
        }
    }
}
