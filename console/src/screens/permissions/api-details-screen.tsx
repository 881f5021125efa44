import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { apiDetailsScreenDeleteMutation } from '../../generated/apiDetailsScreenDeleteMutation.graphql.ts'
import type { apiDetailsScreenQuery } from '../../generated/apiDetailsScreenQuery.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { EventList } from '../log/event-list.tsx'
import { ApiForm } from './api-form.tsx'
import { WhoCan } from './who-can.tsx'

const route = getRouteApi('/apis/$apiId')

/** One API with its permissions. */
export function ApiDetailsScreen() {
  const { apiId } = route.useParams()
  const navigate = useNavigate()
  const [{ viewer, api, recent }, refresh] = useScreenQuery<apiDetailsScreenQuery>(
    graphql`
      query apiDetailsScreenQuery($apiId: ID!) {
        viewer {
          eventPosition
        }
        api(id: $apiId) {
          id
          name
          identifier
          permissions {
            name
          }
          ...apiForm_api
        }
        recent: events(filter: { subjectId: $apiId }, direction: DESC, first: 20) {
          nodes {
            id
            ...eventList_event
          }
        }
      }
    `,
    { apiId },
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const deletion = useProblemMutation<apiDetailsScreenDeleteMutation>(graphql`
    mutation apiDetailsScreenDeleteMutation($apiId: ID!) {
      deleteApi(input: { apiId: $apiId }) {
        ... on DeleteApiPayload {
          deletedApiId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!api)
    return (
      <div className="outcome">
        <h1>{t('There is no such API')}</h1>
        <p>{t('It may have been deleted since.')}</p>
        <Link to="/apis" className="button">
          {t('All APIs')}
        </Link>
      </div>
    )
  const { name } = api
  return (
    <section className="screen">
      {mayFollow && <LiveChanges subjectId={apiId} after={viewer?.eventPosition} onChange={refresh} />}
      <header className="screen-head user-head">
        <div>
          <h1>{name}</h1>
          <CopiedText text={api.id} />
        </div>
        {mayWrite && (
          <div className="actions">
            <ConfirmedButton
              label={t('Delete')}
              title={t('Delete {name}?', { name })}
              consequence={
                <p>
                  {t(
                    'The API and its permissions are deleted, and every role loses them. Clients get no tokens for it. Nothing brings it back.',
                  )}
                </p>
              }
              name={name}
              isRunning={deletion.isRunning}
              problem={deletion.problem}
              onConfirm={(close) =>
                deletion.run({ apiId }, () => {
                  close()
                  notify(t('{name} is deleted.', { name }))
                  // Edits of what is deleted are not worth a question.
                  void navigate({ to: '/apis', ignoreBlocker: true })
                })
              }
            />
          </div>
        )}
      </header>
      <div className="sections">
        <ApiForm key={apiId} api={api} mayWrite={mayWrite} />
        <WhoCan api={api.identifier} permissions={api.permissions.map((permission) => permission.name)} />
        {recent && (
          <section className="card">
            <h2>{t('What happened')}</h2>
            <EventList events={recent.nodes} about={apiId} />
          </section>
        )}
      </div>
    </section>
  )
}
