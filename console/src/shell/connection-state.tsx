import { useEffect, useRef, useState } from 'react'
import { useConnection } from '../api/connection.ts'
import { startSignIn } from '../auth/sign-in.ts'
import { notify } from '../parts/notices.tsx'
import { language, t } from '../words/words.ts'

/** An interruption that is over before it is noticed is not reported. */
const UNNOTICED_MS = 1500
const clock = new Intl.DateTimeFormat(language, { timeStyle: 'short' })

/** Says that the screen is no longer up to date, and when it is again. */
export function ConnectionState() {
  const { interruptedAt, hasGap, isSignedOut } = useConnection()
  const [isShown, setIsShown] = useState(false)
  const wasShown = useRef(false)
  useEffect(() => {
    if (interruptedAt === null) {
      setIsShown(false)
      if (wasShown.current && !hasGap) notify(t('Connected again. The changes since then are shown.'))
      wasShown.current = false
      return
    }
    const timer = setTimeout(() => {
      wasShown.current = true
      setIsShown(true)
    }, UNNOTICED_MS)
    return () => clearTimeout(timer)
  }, [interruptedAt, hasGap])
  return (
    <div className="connection" role="status">
      {isShown && interruptedAt !== null && !isSignedOut && (
        <p>
          {t('Not connected since {time}. The screen is as it was then, and continues by itself.', {
            time: clock.format(interruptedAt),
          })}
        </p>
      )}
      {isSignedOut && (
        <p>
          {t('Your session has ended. Keep what you have typed, and')}{' '}
          <button type="button" className="button quiet" onClick={() => void startSignIn()}>
            {t('sign in again')}
          </button>
        </p>
      )}
      {hasGap && (
        <p>
          {t('Some changes are no longer in the log.')}{' '}
          <button type="button" className="button quiet" onClick={() => location.reload()}>
            {t('Load the screen again')}
          </button>
        </p>
      )}
    </div>
  )
}
