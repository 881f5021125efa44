/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query Users($first: Int!, $after: String) {\n    users(first: $first, after: $after) {\n      edges { __typename cursor node { __typename id name locked sessions(first: 5) { __typename edges { node { id } } } } }\n      pageInfo { hasNextPage endCursor }\n    }\n  }\n": typeof types.UsersDocument,
    "\n  mutation LockUser($userId: ID!) {\n    lockUser(input: { userId: $userId }) {\n      __typename\n      ... on LockUserPayload { user { id locked } }\n      ... on UserError { code message }\n    }\n  }\n": typeof types.LockUserDocument,
    "\n  mutation CreateUser($name: String!) {\n    createUser(input: { name: $name }) {\n      __typename\n      ... on CreateUserPayload { user { __typename id name locked } }\n      ... on UserError { code message }\n    }\n  }\n": typeof types.CreateUserDocument,
    "\n  subscription Locks($after: String) {\n    userLockChanged(after: $after) {\n      ... on UserLockEvent { kind user { id locked } }\n      ... on EventGap { position }\n    }\n  }\n": typeof types.LocksDocument,
};
const documents: Documents = {
    "\n  query Users($first: Int!, $after: String) {\n    users(first: $first, after: $after) {\n      edges { __typename cursor node { __typename id name locked sessions(first: 5) { __typename edges { node { id } } } } }\n      pageInfo { hasNextPage endCursor }\n    }\n  }\n": types.UsersDocument,
    "\n  mutation LockUser($userId: ID!) {\n    lockUser(input: { userId: $userId }) {\n      __typename\n      ... on LockUserPayload { user { id locked } }\n      ... on UserError { code message }\n    }\n  }\n": types.LockUserDocument,
    "\n  mutation CreateUser($name: String!) {\n    createUser(input: { name: $name }) {\n      __typename\n      ... on CreateUserPayload { user { __typename id name locked } }\n      ... on UserError { code message }\n    }\n  }\n": types.CreateUserDocument,
    "\n  subscription Locks($after: String) {\n    userLockChanged(after: $after) {\n      ... on UserLockEvent { kind user { id locked } }\n      ... on EventGap { position }\n    }\n  }\n": types.LocksDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Users($first: Int!, $after: String) {\n    users(first: $first, after: $after) {\n      edges { __typename cursor node { __typename id name locked sessions(first: 5) { __typename edges { node { id } } } } }\n      pageInfo { hasNextPage endCursor }\n    }\n  }\n"): (typeof documents)["\n  query Users($first: Int!, $after: String) {\n    users(first: $first, after: $after) {\n      edges { __typename cursor node { __typename id name locked sessions(first: 5) { __typename edges { node { id } } } } }\n      pageInfo { hasNextPage endCursor }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation LockUser($userId: ID!) {\n    lockUser(input: { userId: $userId }) {\n      __typename\n      ... on LockUserPayload { user { id locked } }\n      ... on UserError { code message }\n    }\n  }\n"): (typeof documents)["\n  mutation LockUser($userId: ID!) {\n    lockUser(input: { userId: $userId }) {\n      __typename\n      ... on LockUserPayload { user { id locked } }\n      ... on UserError { code message }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreateUser($name: String!) {\n    createUser(input: { name: $name }) {\n      __typename\n      ... on CreateUserPayload { user { __typename id name locked } }\n      ... on UserError { code message }\n    }\n  }\n"): (typeof documents)["\n  mutation CreateUser($name: String!) {\n    createUser(input: { name: $name }) {\n      __typename\n      ... on CreateUserPayload { user { __typename id name locked } }\n      ... on UserError { code message }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Locks($after: String) {\n    userLockChanged(after: $after) {\n      ... on UserLockEvent { kind user { id locked } }\n      ... on EventGap { position }\n    }\n  }\n"): (typeof documents)["\n  subscription Locks($after: String) {\n    userLockChanged(after: $after) {\n      ... on UserLockEvent { kind user { id locked } }\n      ... on EventGap { position }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;