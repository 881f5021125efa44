import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * What the statements of a management call count as. `list` reads: pages, counts, exports, payloads of
 * events. `change` is everything else. Work without one, such as the protocol and hosted pages, is not
 * limited.
 */
export type Workload = { tenant: string; kind: 'list' | 'change' }

const workloads = new AsyncLocalStorage<Workload | undefined>()

export const getWorkload = (): Workload | undefined => workloads.getStore()

/** Runs `work`, and everything that it starts, as a workload. */
export const runWorkload = <Result>(workload: Workload, work: () => Result): Result =>
  workloads.run(workload, work)

/** Runs work that several callers share: it must not wait for the limits of the one that started it. */
export const runUnlimited = <Result>(work: () => Result): Result => workloads.run(undefined, work)

/** Runs each step of a generator as a workload, whatever calls it. */
export function bindWorkload<Item>(
  workload: Workload,
  items: AsyncGenerator<Item>,
): AsyncGenerator<Item, void, undefined> {
  const bound = {
    next: () => runWorkload(workload, () => items.next()),
    return: () => runWorkload(workload, () => items.return(undefined)),
    throw: (error: unknown) => runWorkload(workload, () => items.throw(error)),
    [Symbol.asyncIterator]: () => bound,
    [Symbol.asyncDispose]: async () => void (await bound.return()),
  }
  return bound as AsyncGenerator<Item, void, undefined>
}
