import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { eventList_event$data, eventList_event$key } from '../../generated/eventList_event.graphql.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'
import { describeEvent } from './event-words.ts'

/** Details that are not words for people. */
const describeDetail = (detail: Record<string, unknown> | null | undefined): string =>
  Object.entries(detail ?? {})
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ')

/** Events of rejected requests, which can be explained. */
const EXPLAINED = ['authorize.refused', 'signin.failed']

/** The fields of an event that are shown. */
export const useEvent = (key: eventList_event$key): eventList_event$data =>
  useFragment(
    graphql`
      fragment eventList_event on Event {
        typeName
        occurredAt
        requestId
        actor {
          ip
          user {
            id
            name
            email
          }
          client {
            id
            name
          }
        }
        ... on BulkJobEvent {
          detail
          subjectIds
        }
        ... on AuditEvent {
          changedFields
          detail
          subjectIds
        }
        ... on OrganizationEvent {
          changedFields
          detail
          organizationId
        }
        ... on MembershipEvent {
          changedFields
          detail
          organizationId
          user {
            id
            name
            email
          }
        }
        ... on UserLockEvent {
          user {
            id
            name
            email
          }
        }
        ... on SessionEvent {
          reason
          user {
            id
            name
            email
          }
        }
      }
    `,
    key,
  )

/** What happened, and to whom, in words. The user or organization that a list is `about` is not named. */
export function EventFacts({
  event,
  about,
  hasSource = false,
}: {
  event: eventList_event$data
  about?: string | undefined
  /** Whether it says through which application and from where. */
  hasSource?: boolean
}) {
  const { actor } = event
  const found = event.user ?? actor?.user
  const person = found?.id === about ? undefined : found
  const client = actor?.client
  const subjectIds = event.subjectIds ?? (event.organizationId ? [event.organizationId] : [])
  const subjectId = subjectIds.find((id) => id !== found?.id && id !== about && id !== client?.id)
  const items: ReactNode[] = [
    person && (
      <Link to="/users/$userId" params={{ userId: person.id }}>
        {person.name ?? person.email ?? person.id}
      </Link>
    ),
    subjectId && <Subject id={subjectId} />,
    describeEvent(event) ?? describeDetail(event.detail),
    event.changedFields?.join(', '),
    hasSource && client?.name,
    hasSource && actor?.ip && <EventAddress ip={actor.ip} />,
  ].filter(Boolean)
  return (
    <>
      <span className="event-type">{event.typeName}</span>
      <span className="event-facts">
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the items of an event do not change
          <span key={index}>
            {index > 0 && ' · '}
            {item}
          </span>
        ))}
      </span>
    </>
  )
}

/** An IP address, which leads to the events from it. */
export const EventAddress = ({ ip }: { ip: string }) => (
  <Link to="/log" search={{ ip }}>
    {ip}
  </Link>
)

/** Leads to the other events of the request, and to why it was rejected. */
export const EventRequest = ({ event: { requestId, typeName } }: { event: eventList_event$data }) =>
  requestId && (
    <>
      {EXPLAINED.includes(typeName) && (
        <Link to="/explain" search={{ requestId }}>
          {t('explain')}
        </Link>
      )}{' '}
      <Link to="/log" search={{ request: requestId }} title={t('All events of this request')}>
        {t('request')}
      </Link>
    </>
  )

function EventItem({ event: key, about }: { event: eventList_event$key; about: string | undefined }) {
  const event = useEvent(key)
  return (
    <li>
      <EventFacts event={event} about={about} hasSource />
      <EventRequest event={event} />
      <Time at={event.occurredAt} />
    </li>
  )
}

/** The screens of objects by the prefix of their ids. */
const SCREENS: Readonly<Record<string, (id: string) => LinkProps>> = {
  user: (userId) => ({ to: '/users/$userId', params: { userId } }),
  organization: (organizationId) => ({ to: '/organizations/$organizationId', params: { organizationId } }),
  api: (apiId) => ({ to: '/apis/$apiId', params: { apiId } }),
  role: (appRoleId) => ({ to: '/app-roles/$appRoleId', params: { appRoleId } }),
  group: (groupId) => ({ to: '/groups/$groupId', params: { groupId } }),
}

/** The object that an event is about, which leads to its screen or to its events. */
const Subject = ({ id }: { id: string }) => (
  <Link {...(SCREENS[id.split('_')[0] ?? '']?.(id) ?? { to: '/log', search: { subject: id } })}>{id}</Link>
)

/** Events with what happened in words, who did it, and from where. The user that the list is `about` is not named. */
export const EventList = ({
  events,
  about,
}: {
  events: readonly ({ id: string } & eventList_event$key)[]
  about?: string
}) =>
  events.length === 0 ? (
    <p className="empty">{t('Nothing yet. What happens appears here at once.')}</p>
  ) : (
    <ol className="events">
      {events.map((event) => (
        <EventItem key={event.id} event={event} about={about} />
      ))}
    </ol>
  )
