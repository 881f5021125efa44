import {
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getRequest,
  getSingularSelector,
  type OperationType,
} from 'relay-runtime'
import { test as base } from './connection.ts'
import { compileOperations, createEnvironment } from './relay-environment.ts'

type Listed = { users: { edges: { node: { id: string; name: string; locked: boolean } }[] } }

/** With a Relay environment and its store. */
export const test = base
  .extend('artifact', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const { artifact, remove } = await compileOperations()
    onCleanup(remove)
    return artifact
  })
  .extend('environment', { scope: 'file' }, ({ connection }) => createEnvironment(connection))
  /** The list as a component reads it out of the store. */
  .extend('listed', { scope: 'file' }, ({ artifact, environment }) => () => {
    const owner = createOperationDescriptor(getRequest(artifact('UsersQuery')), {})
    const root = environment.lookup(owner.fragment).data
    const selector = getSingularSelector(artifact('Users_list') as never, root)
    const { data } = environment.lookup(selector as never)
    return (data as Listed).users.edges.map(({ node }) => node)
  })
  .extend(
    'load',
    { scope: 'file' },
    ({ artifact, environment }) =>
      (name: string, variables = {}) =>
        fetchQuery<OperationType>(environment, artifact(name), variables).toPromise(),
  )
  .extend(
    'mutate',
    { scope: 'file' },
    ({ artifact, environment }) =>
      (name: string, variables: Record<string, unknown>) =>
        new Promise<unknown>((done, reject) => {
          commitMutation(environment, {
            mutation: artifact(name),
            variables,
            onCompleted: (response, errors) => (errors?.length ? reject(errors) : done(response)),
            onError: reject,
          })
        }),
  )
