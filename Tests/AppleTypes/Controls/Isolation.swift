import AVFoundation

func item(_ asset: AVURLAsset) -> AVPlayerItem { AVPlayerItem(asset: asset) }

func asset(of item: AVPlayerItem) -> AVAsset { item.asset }  // error: everywhere
