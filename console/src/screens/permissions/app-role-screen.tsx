import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { appRoleScreenDeleteMutation } from '../../generated/appRoleScreenDeleteMutation.graphql.ts'
import type { appRoleScreenQuery } from '../../generated/appRoleScreenQuery.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { AppRoleForm } from './app-role-form.tsx'
import { AppRoleHolders } from './app-role-holders.tsx'
import { HOLDERS } from './holder-words.ts'

const route = getRouteApi('/app-roles/$appRoleId')

/** One role at APIs: its permissions, and who holds it. */
export function AppRoleScreen() {
  const { appRoleId } = route.useParams()
  const navigate = useNavigate()
  const [data, refresh] = useScreenQuery<appRoleScreenQuery>(
    graphql`
      query appRoleScreenQuery($appRoleId: ID!, $first: Int!) {
        viewer {
          eventPosition
        }
        appRole(id: $appRoleId) {
          id
          name
          assignableTo
          ...appRoleForm_appRole
          ...appRoleHolders_appRole @arguments(first: $first)
        }
        ...appRoleForm_query
      }
    `,
    { appRoleId, first: PAGE_SIZE },
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const deletion = useProblemMutation<appRoleScreenDeleteMutation>(graphql`
    mutation appRoleScreenDeleteMutation($appRoleId: ID!) {
      deleteAppRole(input: { appRoleId: $appRoleId }) {
        ... on DeleteAppRolePayload {
          deletedAppRoleId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { appRole } = data
  if (!appRole)
    return (
      <div className="outcome">
        <h1>{t('There is no such role')}</h1>
        <p>{t('It may have been deleted since.')}</p>
        <Link to="/app-roles" className="button">
          {t('All roles at APIs')}
        </Link>
      </div>
    )
  const { name } = appRole
  return (
    <section className="screen">
      {mayFollow && (
        <>
          <LiveChanges subjectId={appRoleId} after={data.viewer?.eventPosition} onChange={refresh} />
          <LiveChanges
            types={['API_CREATED', 'API_UPDATED', 'API_DELETED']}
            after={data.viewer?.eventPosition}
            onChange={refresh}
          />
        </>
      )}
      <header className="screen-head user-head">
        <div>
          <h1>{name}</h1>
          <CopiedText text={appRole.id} />
        </div>
        <span>
          {t('Who may hold it')}: {appRole.assignableTo.map((each) => HOLDERS[each]).join(', ')}
        </span>
        {mayWrite && (
          <div className="actions">
            <ConfirmedButton
              label={t('Delete')}
              title={t('Delete {name}?', { name })}
              consequence={<p>{t('All who hold the role lose it. Nothing brings it back.')}</p>}
              name={name}
              isRunning={deletion.isRunning}
              problem={deletion.problem}
              onConfirm={(close) =>
                deletion.run({ appRoleId }, () => {
                  close()
                  notify(t('{name} is deleted.', { name }))
                  // Edits of what is deleted are not worth a question.
                  void navigate({ to: '/app-roles', ignoreBlocker: true })
                })
              }
            />
          </div>
        )}
      </header>
      <div className="sections">
        <AppRoleForm key={appRoleId} appRole={appRole} query={data} mayWrite={mayWrite} />
        <AppRoleHolders appRole={appRole} />
      </div>
    </section>
  )
}
