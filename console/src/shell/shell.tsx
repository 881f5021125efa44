import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import { signOut } from '../auth/sign-in.ts'
import { deployment } from '../config.ts'
import type { shellQuery } from '../generated/shellQuery.graphql.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Notices } from '../parts/notices.tsx'
import { ListSkeleton } from '../parts/skeleton.tsx'
import { LANGUAGES, type Language, language, setLanguage, t } from '../words/words.ts'
import { Areas, permitAreas } from './areas.tsx'
import { ConnectionState } from './connection-state.tsx'
import { CopyScreen } from './copy-screen.tsx'
import { NoRight } from './failure.tsx'
import { applyTheme, getTheme, type Theme } from './theme.ts'
import { ManagedOrganization, ViewerScopes } from './viewer-scopes.ts'

const loadBox = () => import('./box.tsx').then(({ Box }) => ({ default: Box }))
const Box = lazy(loadBox)
const TenantSwitcher = lazy(() =>
  import('./tenant-switcher.tsx').then(({ TenantSwitcher }) => ({ default: TenantSwitcher })),
)
const Shortcuts = lazy(() => import('./shortcuts.tsx').then(({ Shortcuts }) => ({ default: Shortcuts })))

const isTyping = (event: KeyboardEvent): boolean => {
  // The editors of the API screen are in a shadow tree.
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement &&
    target.closest('input, select, textarea, dialog, [contenteditable]') !== null
  )
}

/** The dialog that a key has opened. */
function useKeys() {
  const [opened, setOpened] = useState<'box' | 'shortcuts' | 'switcher' | null>(null)
  useEffect(() => {
    // People type as soon as they have pressed the keys.
    void loadBox()
    const handleKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) setOpened('box')
      else if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      else if (event.key === '?') setOpened('shortcuts')
      else if (event.key === '/') document.querySelector<HTMLElement>('main input[type=search]')?.focus()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [])
  return { opened, setOpened }
}

const THEMES: Record<Theme, string> = { system: t('System'), light: t('Light'), dark: t('Dark') }

function ThemeChoice() {
  const [theme, setTheme] = useState(getTheme)
  return (
    <label className="theme">
      {t('Appearance')}
      <select
        value={theme}
        onChange={({ target }) => {
          const chosen = target.value as Theme
          applyTheme(chosen)
          setTheme(chosen)
        }}
      >
        {Object.entries(THEMES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

const LanguageChoice = () => (
  <label className="theme">
    {t('Language')}
    <select
      aria-label={t('Language of the console')}
      value={language}
      onChange={({ target }) => setLanguage(target.value as Language)}
    >
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

/** The menu of a phone, which another screen closes. */
function useMenu() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const [openedAt, setOpenedAt] = useState<string | null>(null)
  const isOpen = openedAt === path
  return { isOpen, toggle: () => setOpenedAt(isOpen ? null : path) }
}

function Frame() {
  const { viewer } = useLazyLoadQuery<shellQuery>(
    graphql`
      query shellQuery {
        viewer {
          scopes
          administeredOrganization {
            id
            name
          }
          user {
            id
            name
            email
            picture
          }
        }
      }
    `,
    {},
  )
  const scopes = new Set(viewer?.scopes)
  const managed = viewer?.administeredOrganization ?? null
  const groups = managed ? [] : permitAreas(scopes)
  const user = viewer?.user
  const navigate = useNavigate()
  const isAtManaged = useLocation({
    select: ({ pathname }) =>
      managed !== null &&
      (pathname.endsWith(`/organizations/${managed.id}`) || pathname.includes('/webhooks/')),
  })
  const { opened, setOpened } = useKeys()
  const menu = useMenu()
  const close = () => setOpened(null)
  const commands = [
    ...groups
      .flatMap(({ areas }) => areas)
      .map(({ to, label }) => ({ name: label, run: () => void navigate({ to }) })),
    { name: t('Keyboard shortcuts'), run: () => setOpened('shortcuts') },
    { name: t('Sign out'), run: () => void signOut() },
  ]
  return (
    <ViewerScopes.Provider value={scopes}>
      <a className="skip" href="#content">
        {t('Skip to content')}
      </a>
      <div className="frame">
        <nav className="sidebar" aria-label={t('Console')} data-open={menu.isOpen || undefined}>
          <p className="tenant">
            {scopes.has('tenants:read') ? (
              <button
                type="button"
                className="link"
                aria-haspopup="dialog"
                onClick={() => setOpened('switcher')}
              >
                <strong>{deployment.name}</strong> <span aria-hidden="true">▾</span>
                <span className="hidden">{t('Open another tenant')}</span>
              </button>
            ) : (
              <strong>{deployment.name}</strong>
            )}
            <span className={`badge ${deployment.environment}`}>{deployment.environment}</span>
          </p>
          <button
            type="button"
            className="button quiet open-menu"
            aria-expanded={menu.isOpen}
            aria-controls="areas"
            onClick={menu.toggle}
          >
            {t('Menu')}
          </button>
          {!managed && (
            <button type="button" className="find" onClick={() => setOpened('box')}>
              {t('Find anything')} <kbd>Ctrl K</kbd>
            </button>
          )}
          <div className="areas" id="areas">
            {managed ? (
              <ul>
                <li>
                  <Link to="/organizations/$organizationId" params={{ organizationId: managed.id }}>
                    {managed.name}
                  </Link>
                </li>
              </ul>
            ) : (
              <Areas groups={groups} />
            )}
          </div>
          <div className="person">
            {!managed && (
              <CopyScreen
                run={(query, variables) => void navigate({ to: '/api', search: { query, variables } })}
              />
            )}
            <ThemeChoice />
            <LanguageChoice />
            {user && (
              <p>
                <Avatar name={user.name ?? user.email ?? ''} picture={user.picture ?? null} />
                <span className="truncated">{user.name ?? user.email}</span>
              </p>
            )}
            <button type="button" className="button quiet" onClick={() => void signOut()}>
              {t('Sign out')}
            </button>
          </div>
        </nav>
        <main id="content" tabIndex={-1}>
          <ConnectionState />
          <Suspense fallback={<ListSkeleton />}>
            <ManagedOrganization.Provider value={managed?.id ?? null}>
              {viewer && scopes.size === 0 && !isAtManaged ? <NoRight /> : <Outlet />}
            </ManagedOrganization.Provider>
          </Suspense>
        </main>
      </div>
      <Notices />
      <Suspense fallback={null}>
        {opened === 'box' && <Box commands={commands} onClose={close} />}
        {opened === 'switcher' && <TenantSwitcher onClose={close} />}
        {opened === 'shortcuts' && <Shortcuts onClose={close} />}
      </Suspense>
    </ViewerScopes.Provider>
  )
}

/** The frame of every screen: the areas that the viewer's scopes permit, and the person. */
export const Shell = () => (
  <Suspense fallback={<ListSkeleton />}>
    <Frame />
  </Suspense>
)
