/** What carries the results of a subscription: an operation of a WebSocket, or an event stream. */
export interface StreamTransport {
  /**
   * Sends a result of a shared execution at once, apart from the results of the stream. False when the reader is too
   * slow.
   */
  deliver(text: string, position: string): boolean
  /** Called when the stream ends, before the reader receives the reason. */
  handleEnd(reason: unknown): void
}

/** The stream of one subscription. */
export type Stream = {
  /** Ends it. */
  readonly stop: AbortController
  /** The position of the event that is being executed, or of the start; null until it is known. */
  position: string | null
  /** What carries it; null until it is known. */
  transport: StreamTransport | null
  /** The position to resume from, which takes precedence over `after`: the Last-Event-ID header at first. */
  lastEventId: string | null
}

export const createStream = (lastEventId: string | null): Stream => ({
  stop: new AbortController(),
  position: null,
  transport: null,
  lastEventId,
})
