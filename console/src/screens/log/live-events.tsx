import { useRef } from 'react'
import { graphql } from 'react-relay/hooks'
import type { liveEventsSubscription } from '../../generated/liveEventsSubscription.graphql.ts'
import { useLive } from '../../parts/live-events.ts'

/** A list that grows for hours would take the memory of the browser. */
const MAX_LIVE_EVENTS = 500

/** Adds events to a list as they happen. `onFull` is called when it has grown by as many as it may. */
export function LiveEvents({
  connection,
  after,
  onFull,
}: {
  connection: string
  after: string | null | undefined
  onFull: () => void
}) {
  const count = useRef(0)
  useLive<liveEventsSubscription>({
    subscription: graphql`
      subscription liveEventsSubscription($connections: [ID!]!, $after: String) {
        events(after: $after)
          @prependNode(connections: $connections, edgeTypeName: "EventEdge") {
          id
          position
          ...eventList_event
        }
      }
    `,
    variables: { connections: [connection], after },
    onNext: () => {
      count.current += 1
      if (count.current === MAX_LIVE_EVENTS) onFull()
    },
  })
  return null
}
