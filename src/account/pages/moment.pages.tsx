import type { VNode } from 'preact'
import { LOCAL_TIME_SCRIPT_PATH } from '../../pages/assets/local-time-script.ts'
import { PageScript } from '../../pages/parts/page-script.pages.tsx'
import { Message, useWords } from '../../pages/parts/words.pages.tsx'

type MomentProps = { at: Date; timeZone: string | null; style?: 'medium' | 'long' }

/** A time in the user's time zone. Without one, a script shows it in that of the browser; until then it is in UTC. */
export function Moment({ at, timeZone, style = 'medium' }: MomentProps): VNode {
  const time = useWords().formatTime(at, style, timeZone ?? 'UTC')
  if (timeZone) return <time datetime={at.toISOString()}>{time}</time>
  return (
    <>
      <time datetime={at.toISOString()} data-local={style}>
        <Message of="account.utc" time={time} />
      </time>
      <PageScript path={LOCAL_TIME_SCRIPT_PATH} />
    </>
  )
}
