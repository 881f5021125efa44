import { graphql } from 'react-relay/hooks'
import type { ListExport } from '../../parts/list-export.tsx'

/** The sessions of a file. */
export const SESSION_EXPORT: ListExport = {
  query: graphql`
    query sessionExportQuery($filter: SessionFilter, $orderBy: SessionOrder, $first: Int, $after: String) {
      list: sessions(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
        nodes {
          ...sessionExport_session
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  selectedQuery: graphql`
    query sessionExportSelectedQuery($ids: [ID!]!) {
      nodes(ids: $ids) {
        ...sessionExport_session @alias(as: "row")
      }
    }
  `,
  paths: [
    'id',
    'user.id',
    'user.name',
    'user.email',
    'client.id',
    'client.name',
    'userAgent',
    'lastSeenIp',
    'lastSeenLocation',
    'deviceId',
    'lastSeenAt',
    'createdAt',
    'expiresAt',
  ],
}

graphql`
  fragment sessionExport_session on Session {
    id
    user {
      id
      name
      email
    }
    client {
      id
      name
    }
    userAgent
    lastSeenIp
    lastSeenLocation
    deviceId
    lastSeenAt
    createdAt
    expiresAt
  }
`
