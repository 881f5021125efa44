import type { ReactNode } from 'react'
import { t } from '../../words/words.ts'

/** The channel on which the window of a sign-in hands its answer to the console, a page of the same origin. */
export const TRY_CHANNEL = 'console.try'

/** Hands the answer of a sign-in that was tried to the page that opened the window, and closes it. */
export function handOver(): ReactNode {
  const channel = new BroadcastChannel(TRY_CHANNEL)
  channel.postMessage(location.href)
  // The code is in nobody's history.
  history.replaceState(null, '', location.pathname)
  window.close()
  return (
    <main className="outcome">
      <h1>{t('The sign-in is back in the console')}</h1>
      <p>{t('You can close this window.')}</p>
    </main>
  )
}
