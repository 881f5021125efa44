import type { ComponentProps } from 'react'
import { EventList } from '../log/event-list.tsx'
import { LiveEvents } from '../log/live-events.tsx'

/** The newest events, and those that happen. */
export function Feed({
  events,
  ...live
}: ComponentProps<typeof LiveEvents> & Pick<ComponentProps<typeof EventList>, 'events'>) {
  return (
    <>
      <LiveEvents {...live} />
      <EventList events={events} />
    </>
  )
}
