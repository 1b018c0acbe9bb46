import AVFoundation

func item(_ asset: AVAsset) async -> AVPlayerItem {
    await AVPlayerItem(asset: asset)  // error: everywhere
}
