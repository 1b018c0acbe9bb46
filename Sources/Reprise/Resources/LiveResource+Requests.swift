import HTTPSemantics
import HTTPTypes

/// Requests that store nothing: HEAD, other methods, and the rest of a read whose store failed.
extension LiveResource {
    /// Sends HEAD; the response may freshen or invalidate the stored one (RFC 9111 §4.3.5).
    func head(_ request: OriginRequest) async throws -> HTTPResponse {
        var response = try await engine.origin.send(request.asking(for: nil))
        response.body.cancel()
        response.dropForeignCookies(of: request.url)
        if response.head.status == .ok, let generation = liveGeneration,
            generation.mayBeChanged(by: response.head.headerFields, for: request)
        {
            let fields = response.head.headerFields
            switch generation.record.identity.verdict(ofHead: fields, isShared: policy.isShared) {
            case .freshens:
                // A response without a body does not vouch for a Content-Type.
                var fields = fields
                fields[.contentType] = nil
                generation.freshen(fields, requestTime: response.requestTime, by: request)
            case .contradicts: generation.expire()
            case .tellsNothing:
                // It describes the kind of file rather than its bytes.
                if let features = fields[.contentFeatures] { generation.note(contentFeatures: features) }
            }
        }
        return response.head
    }

    /// Forwards a request with another method.
    func forward(_ request: OriginRequest) async throws -> OriginResponse {
        if policy.isOffline || request.networkPolicy == .never {
            throw RepriseError(
                .notStored, "The origin must not be asked, so \(request.method.rawValue) cannot be sent.")
        }
        var response = try await engine.origin.send(request.asking(for: nil))
        response.body = CountedBody(response.body, host: request.url.authority, reporter: engine.reporter)
        let isSafe = [HTTPRequest.Method.get, .head, .options, .trace].contains(request.method)
        if !isSafe, 200..<400 ~= response.head.status.code {
            engine.invalidate(key)
            for name in [HTTPField.Name.location, .contentLocation] {
                guard let text = response.head.headerFields[name], let url = try? request.url.resolving(text),
                    url.authority == request.url.authority, url.scheme == request.url.scheme
                else { continue }
                engine.invalidate(engine.configuration.keyPolicy.key(for: url).inPartition(key.partition))
            }
        }
        return response
    }

    /// The error for a read that comes to another representation at `position`; the next read of a byte that is not
    /// stored asks for that.
    private func changed(
        _ generation: LiveGeneration, _ reason: GenerationChange, by response: OriginResponse, at position: Int64
    ) -> RepriseError {
        response.body.cancel()
        generation.supersede(reason: reason.words)
        return FetchSchedule.Freeze.replaced.error(at: position)
    }

    /// Continues a read whose store failed: a response for exactly the remaining part, which must be of the same
    /// generation.
    func resumeDirect(
        _ generation: LiveGeneration, from: Int64, to: Int64?, request: OriginRequest
    ) async throws -> DirectStream {
        if let remainder = generation.takeRemainder(at: from) {
            return DirectStream(
                remainder.response, start: remainder.start, from: from, to: to, expectedEnd: remainder.end,
                host: request.url.authority, reporter: engine.reporter)
        }
        let record = generation.record
        let spec: RangeSpec = to.map { .bounded(from..<$0) } ?? .from(from)
        let ifRange = record.identity.validators.ifRangeValue
        let interest = RequestInterest(request.demand)
        await engine.precedence.waitForTurn(interest, at: request.url.authority)
        // Nothing of it is stored, so rules against storing don't end the read. A response that cannot be shown to
        // continue the representation does: a reader never gets bytes of two.
        let answer = try await generation.answer(
            to: LiveGeneration.Question(
                request: request, forms: RangeForms(only: spec), ifRange: ifRange,
                storage: StoragePolicy(honorsNoStore: false),
                interest: interest))
        let response = answer.response
        let placement: BodyPlacement
        switch answer.action {
        case .fill(let found): placement = found
        case .refusal:
            let refusal = try await OriginRefusal.collect(response, of: request.url.authority, engine.reporter)
            throw OriginQuestion.refused(refusal, from: request.url)
        case .newGeneration(let other, let reason):
            generation.note(SplicingEvidence.Sighting(response, other))
            throw changed(generation, reason, by: response, at: from)
        case .generationChanged(let reason):
            response.body.cancel()
            generation.doubt(reason: reason.words)
            throw FetchSchedule.Freeze.replaced.error(at: from)
        default:
            response.body.cancel()
            throw FetchSchedule.Freeze.replaced.error(at: from)
        }
        return DirectStream(
            response, start: placement.start, from: from, to: to, expectedEnd: placement.end,
            host: request.url.authority, reporter: engine.reporter)
    }
}
