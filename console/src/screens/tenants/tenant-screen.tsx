import '../../parts/setup-steps.css'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { graphql } from 'react-relay/hooks'
import { deployment, getConsoleUrl } from '../../config.ts'
import type { tenantScreenDeleteMutation } from '../../generated/tenantScreenDeleteMutation.graphql.ts'
import type { tenantScreenQuery } from '../../generated/tenantScreenQuery.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { SETUP_STEPS } from '../../parts/setup-steps.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'

const route = getRouteApi('/tenants/$slug')

const SIGN_UP: Record<string, string> = {
  OFF: t('Nobody'),
  OPEN: t('Anybody'),
  DOMAINS: t('People of some domains'),
  INVITATION: t('Invited people'),
}

/** One tenant: what it is set to, and what it still needs. Its console is where it is changed. */
export function TenantScreen() {
  const { slug } = route.useParams()
  const navigate = useNavigate()
  const mayWrite = useMay('tenants:write')
  const mayFollow = useMay('events:read')
  const [{ tenant, viewer }, refresh] = useScreenQuery<tenantScreenQuery>(
    graphql`
      query tenantScreenQuery($slug: ID!) {
        viewer {
          eventPosition
        }
        tenant(slug: $slug) {
          id
          createdAt
          updatedAt
          settings {
            friendlyName
            supportUrl
            defaultLocale
            signUp
            eventRetentionDays
          }
          setup {
            item
            done
            dueAt
          }
        }
      }
    `,
    { slug },
  )
  const remove = useProblemMutation<tenantScreenDeleteMutation>(graphql`
    mutation tenantScreenDeleteMutation($slug: ID!) {
      deleteTenant(input: { slug: $slug }) {
        ... on DeleteTenantPayload {
          deletedTenantId @deleteRecord
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  // The log of another tenant is its own: its settings are read again when the person comes back to the window.
  useEffect(() => {
    const handleReturn = () => refresh()
    addEventListener('focus', handleReturn)
    return () => removeEventListener('focus', handleReturn)
  }, [refresh])
  if (!tenant) return <p className="empty">{t('There is no tenant {slug}.', { slug })}</p>
  const { settings, setup } = tenant
  const name = settings.friendlyName ?? slug
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges types={['TENANT_DELETED']} after={viewer?.eventPosition} onChange={refresh} />
      )}
      <header className="screen-head">
        <h1>{name}</h1>
        <a className="button" href={getConsoleUrl(slug)}>
          {t('Open its console')}
        </a>
        {mayWrite && slug !== deployment.tenant && (
          <ConfirmedButton
            label={t('Delete')}
            title={t('Delete {name}?', { name })}
            consequence={
              <p>
                {t('All its users, sessions, applications and events are deleted. Nothing brings them back.')}
              </p>
            }
            name={slug}
            isRunning={remove.isRunning}
            problem={remove.problem}
            onConfirm={() =>
              remove.run({ slug }, () => {
                notify(t('{slug} is deleted.', { slug }))
                void navigate({ to: '/tenants' })
              })
            }
          />
        )}
      </header>
      <div className="columns">
        <section className="card">
          <h2>{t('Settings')}</h2>
          <dl className="facts">
            {(
              [
                [t('Slug'), slug],
                [t('Issuer'), getConsoleUrl(slug).replace(/\/console$/, '')],
                [t('Help page'), settings.supportUrl],
                [t('Language'), settings.defaultLocale ?? 'en'],
                [t('Sign-up'), SIGN_UP[settings.signUp]],
                [t('Log'), t('{days} days', { days: settings.eventRetentionDays })],
                [t('Created'), <Time key="created" at={tenant.createdAt} />],
                [t('Changed'), <Time key="changed" at={tenant.updatedAt} />],
              ] as const
            ).map(([label, value]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value ?? <span className="none">{t('none')}</span>}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section className="card">
          <h2>{t('Setup')}</h2>
          <ul className="setup-steps">
            {setup.map(({ item, done, dueAt }) => {
              const { label, advice } = SETUP_STEPS[item as keyof typeof SETUP_STEPS]
              return (
                <li key={item}>
                  <span className={`badge ${done ? 'calm' : 'warning'}`}>{done ? t('done') : t('open')}</span>
                  <div>
                    <strong>{label}</strong>
                    {!done && <p className="none">{advice}</p>}
                    {done && dueAt && (
                      <p className="none">{tNodes('Rotation {at}', { at: <Time at={dueAt} /> })}</p>
                    )}
                  </div>
                </li>
              )
            })}
          </ul>
        </section>
      </div>
    </section>
  )
}
