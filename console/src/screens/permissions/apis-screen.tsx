import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { apisScreen_apis$key } from '../../generated/apisScreen_apis.graphql.ts'
import type { apisScreenCreateMutation } from '../../generated/apisScreenCreateMutation.graphql.ts'
import type { apisScreenPageQuery } from '../../generated/apisScreenPageQuery.graphql.ts'
import type { apisScreenQuery } from '../../generated/apisScreenQuery.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'

/** The APIs that the tenant declares, oldest first. */
export function ApisScreen() {
  const [query, refresh] = useScreenQuery<apisScreenQuery>(
    graphql`
      query apisScreenQuery($first: Int!) {
        viewer {
          eventPosition
        }
        ...apisScreen_apis @arguments(first: $first)
      }
    `,
    { first: PAGE_SIZE },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    apisScreenPageQuery,
    apisScreen_apis$key
  >(
    graphql`
      fragment apisScreen_apis on Query
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int" })
      @refetchable(queryName: "apisScreenPageQuery") {
        apis(first: $first, after: $after) @connection(key: "apisScreen_apis") {
          totalSize
          edges {
            node {
              id
              name
              identifier
              updatedAt
              permissions {
                name
              }
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  const { apis } = data
  if (!apis) return <p className="empty">{t('You may not read APIs.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['API_CREATED', 'API_UPDATED', 'API_DELETED']}
          after={query.viewer?.eventPosition}
          onChange={() => refresh({ first: countPage(apis.edges.length) })}
        />
      )}
      <header className="screen-head">
        <h1>{t('APIs')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('New API')}
          </button>
        )}
      </header>
      <p className="count" role="status">
        {tCount(apis.totalSize, '{count} API', '{count} APIs')}
      </p>
      {apis.edges.length === 0 ? (
        <p className="empty">
          {t(
            'There are no APIs yet. An API is a server of yours that accepts access tokens; its permissions are given by roles.',
          )}
        </p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Identifier')}</th>
              <th scope="col">{t('Permissions')}</th>
              <th scope="col">{t('Changed')}</th>
            </tr>
          </thead>
          <tbody>
            {apis.edges.map(({ node }) => (
              <tr key={node.id}>
                <th scope="row">
                  <Link to="/apis/$apiId" params={{ apiId: node.id }} className="row-link">
                    <span className="truncated">{node.name}</span>
                  </Link>
                </th>
                <td className="truncated">{node.identifier}</td>
                <td data-label={t('Permissions')}>{node.permissions.length}</td>
                <td data-label={t('Changed')}>
                  <Time at={node.updatedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
      {isOpen && <NewApiDialog onClose={() => setIsOpen(false)} />}
    </section>
  )
}

/** Creates an API, and shows it. */
function NewApiDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const create = useProblemMutation<apisScreenCreateMutation>(graphql`
    mutation apisScreenCreateMutation($input: CreateApiInput!) {
      createApi(input: $input) {
        ... on CreateApiPayload {
          api {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const input = { name: readText(form, 'name'), identifier: readText(form, 'identifier') }
    create.run({ input }, ({ createApi }) => {
      onClose()
      if (createApi?.api) void navigate({ to: '/apis/$apiId', params: { apiId: createApi.api.id } })
    })
  }
  return (
    <Dialog title={t('New API')} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field
          label={t('Name')}
          name="name"
          hint={t('People see it when they consent.')}
          problem={create.problem}
        >
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field
          label={t('Identifier')}
          name="identifier"
          hint={t('A URI, such as https://api.example.com: clients request tokens for it.')}
          problem={create.problem}
        >
          {(props) => <input {...props} type="url" autoComplete="off" spellCheck={false} />}
        </Field>
        <ProblemText problem={create.problem} shown={['name', 'identifier']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning}>
            {t('Create API')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
