import HTTPSemantics

/// Asks the origin for missing bytes: at the URL that brought the bytes that are played, then at the first one.
extension Generation {
    /// A question about missing bytes.
    struct Question: Sendable {
        let request: OriginRequest
        var forms: RangeForms
        var ifRange: String?
        let storage: StoragePolicy
        let interest: RequestInterest
        /// The fetch that stores the bytes; `nil` for a read that bypasses the store.
        var fetch: FetchID?
        /// Whether another form was refused with 403 or 500, which rarely depend on the form.
        var wasRefused = false

        var range: RangeSpec? { forms.current }
        /// `request` for its range, which has waited for its turn.
        func asking(_ request: OriginRequest) -> OriginRequest {
            var request = request.asking(for: range, ifRange: ifRange, interest: interest)
            request.context.hasTurn = true
            return request
        }

        var sent: FetchRequest { FetchRequest(range: range, sentIfRange: ifRange != nil) }

        /// The question to retry with after `answer`; `nil` if `answer` is final.
        func following(_ answer: OriginAnswer) -> Question? {
            var next = self
            let status = answer.response.head.status.code
            switch answer.action {
            case .retryWithoutIfRange: next.ifRange = nil
            case .refusal where [403, 500].contains(status):
                // The player would have sent neither If-Range nor perhaps this form.
                guard !wasRefused, ifRange != nil || forms.hasOtherRange else { return nil }
                next.wasRefused = true
                next.ifRange = nil
                if forms.hasOtherRange { _ = next.forms.advance() }
            case let action where action.isFaultOfForm(status: status):
                guard next.forms.advance() else { return nil }
                // A request for the whole representation needs no condition.
                if next.range == nil { next.ifRange = nil }
            default: return nil
            }
            return next
        }
    }

    /// Takes in an answer that does not continue this generation, and ends its body.
    ///
    /// Returns the error for readers of the missing byte at `position`; `nil` if they look again.
    func decline(
        _ answer: OriginAnswer, to question: Question, at position: Int64
    ) async throws -> RepriseError? {
        let (action, response) = (answer.action, answer.response)
        if case .refusal = action {
            let url = question.fetch == nil ? question.request.url : url
            throw OriginQuestion.refused(
                try await OriginRefusal.collect(response, of: url.authority, engine.reporter), from: url)
        }
        if !leave(answer, to: question) { response.body.cancel() }
        // Readers end at the hole, and the next read requests the whole representation.
        let changed = FetchSchedule.Freeze.replaced.error(at: position)
        switch (action, question.fetch) {
        case (.newGeneration(let placement, let change), let fetch):
            note(SplicingEvidence.Sighting(response, placement))
            let isUnproven = fetch != nil && change == .noStrongValidator
            supersede(reason: change.words, because: isUnproven ? .unproven : .replaced)
            return fetch == nil ? changed : nil
        case (.generationChanged(let reason), _): doubt(reason: reason.words)
        // A response that bypasses the store anyway tells nothing else about the stored bytes.
        case (_, nil): break
        case (.unsatisfiable(let length), let fetch?):
            if handle({ $0.schedule.learnEnd(length, from: fetch) }) { return nil }
            doubt(reason: "The origin has fewer bytes than before.")
        // The origin refuses the range of the hole, but doesn't say that the file is shorter.
        case (.retryWithoutRange, _): doubt(reason: "The origin refuses the range of the missing bytes.")
        case (.passThrough(.unexpectedNotice), _), (.passThrough(.unexpectedStatus), _):
            return .logIn(.originMisbehaved, "The origin sent a page or an error in place of \(url.redacted)")
        case (.passThrough(.emptyBody), _):
            return RepriseError(.originMisbehaved, "The origin sent nothing in place of \(url.redacted).")
        case (.passThrough(.contradictoryRange), _): return .unusable(action)
        case (.passThrough(let reason), _) where isOfAnother(response, than: question.sent):
            // Readers get no byte of the new file; the next read requests it.
            doubt(reason: "The origin has another file. \(reason.words)")
        case (.passThrough(let reason), _):
            // Later responses may be storable again.
            closeStore(reason: reason.words, because: .response, for: LiveResource.Machine.bypassTime)
            return nil
        default: return .unusable(action)
        }
        return changed
    }

    /// Leaves the whole of another representation to the download that asked, which begins with it instead of asking
    /// again; false if none did.
    private func leave(_ answer: OriginAnswer, to question: Question) -> Bool {
        guard case .newGeneration = answer.action, answer.response.head.status == .ok, let fetch = question.fetch,
            let successor = question.request.context.successor, question.request.context.errand == nil,
            handle({ $0.handOver(fetch) })
        else { return false }
        successor.leave(
            OriginAnswer(response: answer.response, action: answer.action, interest: question.interest))
        return true
    }

    /// Whether the response certainly has another representation: its validators differ, or the origin ignored the
    /// range of a request with If-Range (RFC 9110 §13.1.5).
    private func isOfAnother(_ response: OriginResponse, than sent: FetchRequest) -> Bool {
        record.identity.contradicts(Validators(response.head.headerFields))
            || sent.sentIfRange && response.head.status == .ok
    }

    /// Sends `question`, and retries in other forms if the origin fails; remembers the form that its host needs.
    func answer(to question: Question) async throws -> OriginAnswer {
        var asked = question
        let host = url.authority
        if engine.rangeHabits.has(.ignoresIfRange, at: host) { asked.ifRange = nil }
        let usesIfRange = asked.ifRange != nil
        while true {
            var answer = try await ask(asked)
            guard let next = asked.following(answer) else {
                if case .fill = answer.action, answer.response.head.status == .partialContent {
                    if usesIfRange, asked.ifRange == nil { note(.ignoresIfRange) }
                    if asked.forms != question.forms { note(.needsOpenEnds) }
                }
                answer.range = asked.range
                return answer
            }
            answer.response.body.cancel()
            asked = next
        }
    }

    private func note(_ habit: RangeHabits.Habit) {
        engine.rangeHabits.note(habit, at: url.authority)
        engine.reporter.remark(habit.words, about: key, at: url.authority)
    }

    /// Asks `question` when its turn has come: at most once where the play's redirect led, and at most once at the
    /// first URL.
    private func ask(_ question: Question) async throws -> OriginAnswer {
        let answer = try await send(question)
        var response = answer.response
        let action = try await Replacement(generation: self).judge(&response, answer.action)
        return OriginAnswer(response: response, action: action)
    }

    private func send(_ question: Question) async throws -> OriginAnswer {
        let (answer, isUnreachable) = try await answerOfTarget(to: question)
        if let answer { return answer }
        if let fetch = question.fetch { handle { $0.noteProgress(of: fetch, at: awake) } }
        let response = try await engine.origin.send(question.asking(question.request))
        let action = judge(response, to: question)
        if case .fill = action {
            changeTarget { $0.found(response) }
        } else if isUnreachable {
            // The first URL has answered, so it is not the network that is away.
            changeTarget { $0.forget() }
        }
        return OriginAnswer(response: response, action: action)
    }

    /// The answer of the URL that the play's redirect led to; without one, the first URL must be asked.
    private func answerOfTarget(to question: Question) async throws -> (answer: OriginAnswer?, isUnreachable: Bool) {
        let first = engine.authorized(question.request)
        let moment = moment
        let keptTarget = ask { $0.keptTarget(at: moment) }
        // The system follows redirects of a transfer in the background, which may begin long after this moment.
        guard question.request.context.errand == nil, let target = keptTarget, let request = target.request(for: first)
        else {
            return (nil, false)
        }
        do {
            var redirected = question.asking(request)
            redirected.context.account = first.url.authority
            var response = try await engine.origin.send(redirected)
            response.asked = first
            response.hasLeftHost = target.hasLeftHost || response.hasLeftHost != false
            let action = judge(response, to: question)
            var continues = false
            if case .fill = action { continues = true }
            let status = response.head.status.code
            let verdict = changeTarget { $0.answered(target, status: status, continues: continues) }
            guard verdict == .stands else {
                response.body.cancel()
                return (nil, false)
            }
            if continues { changeTarget { $0.found(response) } }
            return (OriginAnswer(response: response, action: action), false)
        } catch let error as RepriseError {
            if changeTarget({ $0.failed(error) }) == .stands { throw error }
            return (nil, true)
        }
    }

    private func judge(_ response: OriginResponse, to question: Question) -> ResponseAction {
        validate(
            question.sent, against: record.identity, policy: generationPolicy, response: response.head,
            finalHost: response.url.authority, storage: question.storage)
    }
}
