/** Starts `work` several times at once and waits for all of them. */
export const runTimes = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)))

export const countFulfilled = (results: PromiseSettledResult<unknown>[]): number =>
  results.filter(({ status }) => status === 'fulfilled').length

/** The different error codes of the rejections; the text of an error that has none. */
export const listCodes = (results: PromiseSettledResult<unknown>[]): string[] => [
  ...new Set(
    results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason.code ?? String(result.reason)] : [],
    ),
  ),
]
