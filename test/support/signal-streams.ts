import type { Ctx } from '../../src/context/context.ts'
import { createStream } from '../../src/signals/streams.ts'

/** Creates a stream of shared signals that is polled; returns its id. */
export const addSignalStream = async (ctx: Ctx, clientId: string): Promise<string> =>
  (
    await createStream(ctx, clientId, {
      delivery: 'poll',
      url: null,
      authorization: null,
      description: 'Shop',
      eventsRequested: [],
    })
  ).id
