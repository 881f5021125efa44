import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  type GraphQLTaggedNode,
  getRequest,
  getSingularSelector,
  Network,
  Observable,
  type OperationType,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { type Connection, connectTo, until } from './connection.ts'

/** What a Relay application would have in its components; compiled by relay-compiler against our committed schema. */
const OPERATIONS = `
import { graphql } from 'relay-runtime'
graphql\`
  fragment Users_list on Query
  @refetchable(queryName: "UsersPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" }) {
    users(first: $count, after: $cursor) @connection(key: "Users_users") {
      edges { node { id name locked sessions(first: 5) { edges { node { id } } } } }
    }
  }
\`
graphql\`query UsersQuery { ...Users_list }\`
graphql\`query UsersNodeQuery($id: ID!) { node(id: $id) { __typename ... on User { name } } }\`
graphql\`
  mutation UsersLockMutation($input: LockUserInput!) {
    lockUser(input: $input) { ... on UserPayload { user { locked } } ... on UserError { code message } }
  }
\`
graphql\`
  mutation UsersCreateMutation($input: CreateUserInput!, $connections: [ID!]!) {
    createUser(input: $input) {
      ... on UserPayload { user @appendNode(connections: $connections, edgeTypeName: "UserEdge") { id name locked } }
      ... on UserError { code message }
    }
  }
\`
graphql\`
  subscription UsersLockSubscription($after: String) {
    userLockChanged(after: $after) { ... on UserLockEvent { kind user { id locked } } ... on EventGap { position } }
  }
\`
`

let app: TestApp
let connection: Connection
let directory: string
let environment: Environment
/** What relay-compiler made of an operation or fragment. */
let artifact: (name: string) => GraphQLTaggedNode

beforeAll(async () => {
  app = await startApp()
  connection = await connectTo(app)
  directory = await mkdtemp(join(tmpdir(), 'vestibule-relay-'))
  await mkdir(join(directory, 'src', '__generated__'), { recursive: true })
  await writeFile(join(directory, 'src', 'Users.js'), OPERATIONS)
  const config = {
    src: './src',
    schema: './schema.graphql',
    language: 'javascript',
    artifactDirectory: './src/__generated__',
    eagerEsModules: false,
  }
  await writeFile(join(directory, 'relay.config.json'), JSON.stringify(config))
  await copyFile('schema.graphql', join(directory, 'schema.graphql'))
  const cli = resolve('node_modules/relay-compiler/cli.js')
  await promisify(execFile)(process.execPath, [cli, 'relay.config.json'], { cwd: directory })
  const require = createRequire(join(directory, 'src', 'Users.js'))
  artifact = (name) => require(`./__generated__/${name}.graphql.js`)
  environment = createEnvironment(connection)
})
afterAll(async () => {
  await connection.socket.dispose()
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

function createEnvironment({ url, headers, socket }: Connection): Environment {
  return new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(
      async ({ text }, variables) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query: text, variables }),
        })
        return response.json()
      },
      ({ text }, variables) =>
        Observable.create((sink) => socket.subscribe({ query: text ?? '', variables }, sink as never)),
    ),
  })
}

type Listed = { users: { edges: { node: { id: string; name: string; locked: boolean } }[] } }

/** The list as a component would read it out of the store. */
function listed(): Listed['users']['edges'][number]['node'][] {
  const owner = createOperationDescriptor(getRequest(artifact('UsersQuery')), {})
  const root = environment.lookup(owner.fragment).data
  const selector = getSingularSelector(artifact('Users_list') as never, root)
  const { data } = environment.lookup(selector as never)
  return (data as Listed).users.edges.map(({ node }) => node)
}

const load = (name: string, variables = {}) =>
  fetchQuery<OperationType>(environment, artifact(name), variables).toPromise()

test('pages through a list by @connection, and refetches a node', async () => {
  const query = createOperationDescriptor(getRequest(artifact('UsersQuery')), {})
  environment.retain(query)
  await load('UsersQuery')
  expect(listed().map(({ name }) => name)).toEqual(['Ada', 'Bob', 'Cleo'])
  const pageInfo = () =>
    environment.getStore().getSource().get('client:root:__Users_users_connection:pageInfo') ?? {}
  await load('UsersPageQuery', { count: 3, cursor: pageInfo().endCursor })
  await load('UsersPageQuery', { count: 3, cursor: pageInfo().endCursor })
  expect(listed().map(({ id }) => id)).toEqual(connection.userIds)
  expect(pageInfo().hasNextPage).toBe(false)
  expect(await load('UsersNodeQuery', { id: connection.userIds[0] })).toMatchObject({
    node: { __typename: 'User', name: 'Ada' },
  })
})

const mutate = (name: string, variables: Record<string, unknown>) =>
  new Promise<unknown>((done, reject) => {
    commitMutation(environment, {
      mutation: artifact(name),
      variables,
      onCompleted: (response, errors) => (errors?.length ? reject(errors) : done(response)),
      onError: reject,
    })
  })

test('a mutation changes the rows in the store, and appends new ones to the connection', async () => {
  await mutate('UsersLockMutation', { input: { userId: connection.userIds[1] } })
  expect(listed()[1]).toMatchObject({ name: 'Bob', locked: true })
  await mutate('UsersCreateMutation', {
    input: { fields: { name: 'Hana' } },
    connections: ['client:root:__Users_users_connection'],
  })
  expect(listed().at(-1)).toMatchObject({ name: 'Hana', locked: false })
})

test('a subscription changes the rows in the store', async () => {
  const [, , cleo] = connection.userIds
  const failures: Error[] = []
  const subscription = requestSubscription(environment, {
    subscription: artifact('UsersLockSubscription'),
    variables: { after: await connection.position() },
    onError: (error) => failures.push(error),
  })
  await connection.lock(cleo as string)
  await until(() => failures.length > 0 || listed().some(({ id, locked }) => id === cleo && locked))
  subscription.dispose()
  expect(failures).toEqual([])
  expect(listed().find(({ id }) => id === cleo)).toMatchObject({ name: 'Cleo', locked: true })
})
