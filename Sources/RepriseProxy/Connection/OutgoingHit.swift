import NIOCore
import Reprise

/// A hit on its way to the client, region by region: each is passed to the kernel once the one before was accepted.
///
/// Everything here runs on the connection's event loop.
final class OutgoingHit {
    private let hit: HitAnswer
    private let handler: ConnectionHandler
    private let context: ChannelHandlerContext
    /// What comes after the region that is on its way, if that was cut: it cannot be evicted.
    private var rest: StoredRegion?

    init(_ hit: HitAnswer, on handler: ConnectionHandler, context: ChannelHandlerContext) {
        self.hit = hit
        self.handler = handler
        self.context = context
    }

    /// Passes a region to the kernel, from memory; bytes that have to come from the disk are first read on another
    /// thread.
    func send(_ region: StoredRegion) {
        let (region, rest) = handler.next(of: region, in: hit)
        self.rest = rest
        guard handler.service.configuration.usesSendfile else { return read(region) }
        guard !region.isResident else { return write(region) }
        let loop = context.eventLoop
        // The hit belongs to this loop; the task only waits for the disk.
        let bound = NIOLoopBound(self, eventLoop: loop)
        _ = handler.service.startTask { [service = handler.service] in
            await service.warm(region)
            loop.execute {
                bound.value.write(region)
                bound.value.context.flush()
            }
        }
    }

    /// Passes the bytes of a region to the kernel, read here if that needs no disk access.
    private func read(_ region: StoredRegion) {
        var buffer = context.channel.allocator.buffer(capacity: region.count)
        do {
            if try buffer.writeResidentBytes(of: region) { return write(buffer, of: region) }
        } catch {
            return handler.sendRest(of: hit, from: region.range.lowerBound, context: context)
        }
        let loop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        _ = handler.service.startTask { [service = handler.service] in
            let buffer = try? await service.read(region)
            loop.execute { bound.value.finishReading(region, buffer) }
        }
    }

    private func finishReading(_ region: StoredRegion, _ buffer: ByteBuffer?) {
        guard context.channel.isActive else { return }
        // Bytes that cannot be read are a hole by now.
        guard let buffer else { return handler.sendRest(of: hit, from: region.range.lowerBound, context: context) }
        write(buffer, of: region)
        context.flush()
    }

    private func write(_ buffer: ByteBuffer, of region: StoredRegion) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess { bound.value.handedOver(region) }
        context.write(NIOAny(IOData.byteBuffer(buffer)), promise: promise)
    }

    private func write(_ region: StoredRegion) {
        guard context.channel.isActive else { return }
        let file = RegionFile(region)
        handler.regionOnItsWay.set(region)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { result in
            let outgoing = bound.value
            outgoing.handler.regionOnItsWay.set(nil)
            switch result {
            case .success: outgoing.handedOver(file.stored)
            case .failure(let error): if error.isOfDisk { file.stored.reportUnreadable() }
            }
        }
        context.write(NIOAny(IOData.fileRegion(file.region)), promise: promise)
    }

    /// Continues with the next region after the kernel has accepted `region`.
    private func handedOver(_ region: StoredRegion) {
        handler.handedOver(region)
        let position = region.range.upperBound
        if position == hit.range.upperBound {
            handler.finished(hit, context: context)
        } else if let next = rest ?? hit.following(region) {
            send(next)
            context.flush()
        } else {
            // It was evicted, or cannot be read.
            handler.sendRest(of: hit, from: position, context: context)
        }
    }
}
