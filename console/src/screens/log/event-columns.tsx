import type { eventList_event$data } from '../../generated/eventList_event.graphql.ts'
import type { Column } from '../../parts/big-list.tsx'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'
import { EventAddress, EventFacts, EventRequest } from './event-list.tsx'

export const EVENT_COLUMNS: readonly Column<eventList_event$data>[] = [
  {
    name: 'event',
    label: t('Event'),
    width: 360,
    grow: 6,
    render: (event) => <EventFacts event={event} />,
  },
  {
    name: 'client',
    label: t('Application'),
    width: 120,
    grow: 1,
    render: ({ actor }) => <span className="truncated">{actor?.client?.name}</span>,
  },
  {
    name: 'ip',
    label: t('IP address'),
    width: 130,
    grow: 1,
    phone: 'second',
    render: ({ actor }) => actor?.ip && <EventAddress ip={actor.ip} />,
  },
  {
    name: 'request',
    label: t('Request'),
    width: 120,
    grow: 0.5,
    render: (event) => <EventRequest event={event} />,
  },
  {
    name: 'time',
    label: t('When'),
    width: 110,
    grow: 0.5,
    phone: 'end',
    render: ({ occurredAt }) => <Time at={occurredAt} />,
  },
]
