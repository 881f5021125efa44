import { graphql } from 'react-relay/hooks'
import type { ListExport } from '../../parts/list-export.tsx'

/** The users of a file. */
export const USER_EXPORT: ListExport = {
  query: graphql`
    query userExportQuery($filter: UserFilter, $orderBy: UserOrder, $first: Int, $after: String) {
      list: users(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
        nodes {
          ...userExport_user
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  selectedQuery: graphql`
    query userExportSelectedQuery($ids: [ID!]!) {
      nodes(ids: $ids) {
        ...userExport_user @alias(as: "row")
      }
    }
  `,
  paths: [
    'id',
    'name',
    'givenName',
    'familyName',
    'email',
    'emailVerified',
    'phoneNumber',
    'phoneNumberVerified',
    'locked',
    'roles',
    'locale',
    'zoneinfo',
    'externalId',
    'lastSeenAt',
    'createdAt',
    'updatedAt',
  ],
}

graphql`
  fragment userExport_user on User {
    id
    name
    givenName
    familyName
    email
    emailVerified
    phoneNumber
    phoneNumberVerified
    locked
    roles
    locale
    zoneinfo
    externalId
    lastSeenAt
    createdAt
    updatedAt
  }
`
