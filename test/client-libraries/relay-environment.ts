import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Environment, type GraphQLTaggedNode, Network, Observable, RecordSource, Store } from 'relay-runtime'
import type { Connection } from './connection.ts'

/** The operations of a Relay application; relay-compiler compiles them against the committed schema. */
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
    lockUser(input: $input) { ... on LockUserPayload { user { locked } } ... on UserError { code message } }
  }
\`
graphql\`
  mutation UsersCreateMutation($input: CreateUserInput!, $connections: [ID!]!) {
    createUser(input: $input) {
      ... on CreateUserPayload { user @appendNode(connections: $connections, edgeTypeName: "UserEdge") { id name locked } }
      ... on UserError { code message }
    }
  }
\`
graphql\`
  mutation UsersEdgeMutation($input: CreateUserInput!, $connections: [ID!]!) {
    createUser(input: $input) {
      ... on CreateUserPayload { userEdge @prependEdge(connections: $connections) { cursor node { id name locked } } }
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

/** What relay-compiler generates for an operation or fragment, by its name; `remove` deletes the files. */
export async function compileOperations(): Promise<{
  artifact: (name: string) => GraphQLTaggedNode
  remove: () => Promise<void>
}> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-relay-'))
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
  const artifact = (name: string): GraphQLTaggedNode => require(`./__generated__/${name}.graphql.js`)
  return { artifact, remove: () => rm(directory, { recursive: true, force: true }) }
}

export function createEnvironment({ url, headers, socket }: Connection): Environment {
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
