import type { VNode } from 'preact'
import { Message, useWords } from '../../pages/words.pages.tsx'

/** A time in the user's time zone, or in UTC, which it then names. */
export function Moment({ at, timeZone }: { at: Date; timeZone: string | null }): VNode {
  const time = useWords().formatTime(at, 'medium', timeZone ?? 'UTC')
  return <time datetime={at.toISOString()}>{timeZone ? time : <Message of="account.utc" time={time} />}</time>
}
