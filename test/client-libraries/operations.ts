import { graphql } from './generated/gql.ts'

/** The documents of the Apollo and urql tests, typed by GraphQL Code Generator's client preset. */
export const UsersDocument = graphql(`
  query Users($first: Int!, $after: String) {
    users(first: $first, after: $after) {
      edges { __typename cursor node { __typename id name locked sessions(first: 5) { __typename edges { node { id } } } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const LockUserDocument = graphql(`
  mutation LockUser($userId: ID!) {
    lockUser(input: { userId: $userId }) {
      __typename
      ... on LockUserPayload { user { id locked } }
      ... on UserError { code message }
    }
  }
`)

export const CreateUserDocument = graphql(`
  mutation CreateUser($name: String!) {
    createUser(input: { name: $name }) {
      __typename
      ... on CreateUserPayload { user { __typename id name locked } }
      ... on UserError { code message }
    }
  }
`)

export const LocksDocument = graphql(`
  subscription Locks($after: String) {
    userLockChanged(after: $after) {
      ... on UserLockEvent { kind user { id locked } }
      ... on EventGap { position }
    }
  }
`)
