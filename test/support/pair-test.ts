import { test as base } from 'vitest'
import { startLogoutReceiver } from './logout-receiver.ts'
import { type Pair, startPair } from './pair.ts'

/** A registered post_logout_redirect_uri. */
export const SIGNED_OUT = 'https://rp.example.com/signed-out'

/** The parts that each process reports as degraded. */
export const readDegraded = ({ servers }: Pair): Promise<string[]> =>
  Promise.all(
    servers.map(async ({ origin }) => {
      const ready = (await (await fetch(`${origin}/health/ready`)).json()) as { degraded?: object }
      return Object.keys(ready.degraded ?? {}).join()
    }),
  )

/** `test` with two processes of the program behind one origin. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern
  .extend('pair', { scope: 'file' }, async ({}, { onCleanup }) => {
    const pair = await startPair()
    let stopping: ReturnType<typeof pair.stop> | undefined
    const stop = () => (stopping ??= pair.stop())
    onCleanup(async () => {
      await stop()
    })
    return { ...pair, stop }
  })
  .extend('one', { scope: 'file' }, ({ pair }) => pair.servers[0])
  .extend('other', { scope: 'file' }, ({ pair }) => pair.servers[1])
  .extend('origins', { scope: 'file' }, ({ pair }) => pair.servers.map(({ origin }) => origin))
  .extend('tenant', { scope: 'file' }, ({ pair }) => pair.newTenant())
  .extend('receiver', { scope: 'file' }, async ({ pair: _ }, { onCleanup }) => {
    const receiver = await startLogoutReceiver()
    onCleanup(receiver.close)
    return receiver
  })
