import { graphql } from 'react-relay/hooks'
import type { ListExport } from '../../parts/list-export.tsx'

/** The events of a file. */
export const EVENT_EXPORT: ListExport = {
  query: graphql`
    query eventExportQuery($filter: EventFilter, $first: Int, $after: String) {
      list: events(filter: $filter, direction: DESC, first: $first, after: $after) {
        nodes {
          ...eventExport_event
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  paths: [
    'id',
    'typeName',
    'occurredAt',
    'requestId',
    'actor.ip',
    'actor.user.id',
    'actor.user.email',
    'actor.client.id',
    'sessionId',
    'user.id',
    'reason',
    'subjectIds',
    'changedFields',
    'detail',
  ],
}

graphql`
  fragment eventExport_event on Event {
    id
    typeName
    occurredAt
    requestId
    actor {
      ip
      user {
        id
        email
      }
      client {
        id
      }
    }
    ... on BulkJobEvent {
      detail
      subjectIds
    }
    ... on AuditEvent {
      subjectIds
      changedFields
      detail
    }
    ... on SessionEvent {
      sessionId
      reason
      user {
        id
      }
    }
  }
`
