import { onTestFinished } from 'vitest'

/** The exceptions that nothing catches until the test ends. Without a listener, they end the process. */
export function collectUncaught(): unknown[] {
  const uncaught: unknown[] = []
  const note = (error: unknown) => void uncaught.push(error)
  process.on('uncaughtException', note)
  onTestFinished(() => void process.off('uncaughtException', note))
  return uncaught
}
