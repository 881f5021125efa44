import './users.css'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useRelayEnvironment } from 'react-relay/hooks'
import { saveFile, toCsvLine } from '../../parts/list-export.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import {
  type FaultyLine,
  type ImportHeader,
  importText,
  NO_FIELD,
  type Outcome,
  readFileText,
  readHeader,
} from './import-file.ts'
import { FIELDS } from './profile-fields.tsx'

const LABELS: Record<string, string> = {
  ...Object.fromEntries(FIELDS.map(({ name, label }) => [name, label])),
  externalId: t('External id'),
  locked: t('Locked'),
}

/** Faulty lines that are shown; the file of them has all. */
const MAX_SHOWN = 100
const MAX_SHOWN_CHARS = 200

type Loaded = { name: string; text: string; isGuessed: boolean; header: ImportHeader }
type Run = { dryRun: boolean; outcome: Outcome; chars: number; isDone: boolean }

/** Imports users from the file of a spreadsheet: its columns, a try that writes nothing, and the good lines. */
export function ImportScreen() {
  const environment = useRelayEnvironment()
  const mayImport = useMay('users:write')
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [columns, setColumns] = useState<readonly string[]>([])
  const [run, setRun] = useState<Run | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isStopped = useRef(false)
  useEffect(() => {
    isStopped.current = false
    return () => {
      isStopped.current = true
    }
  }, [])
  const choose = async (file: File | undefined): Promise<void> => {
    setLoaded(null)
    setRun(null)
    setProblem(null)
    if (!file) return
    try {
      const { text, isGuessed } = await readFileText(file)
      const header = await readHeader(environment, text)
      setLoaded({ name: file.name, text, isGuessed, header })
      setColumns(header.columns.map(({ field }) => field ?? NO_FIELD))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  const start = async (dryRun: boolean): Promise<void> => {
    if (!loaded) return
    setProblem(null)
    const faulty = dryRun ? [] : (run?.outcome.faulty ?? [])
    const none: Outcome = { lines: 0, created: 0, updated: 0, unchanged: 0, faulty: [] }
    setRun({ dryRun, outcome: none, chars: 0, isDone: false })
    try {
      const outcome = await importText(environment, loaded.text, {
        header: loaded.header,
        columns,
        dryRun,
        except: faulty.map(({ line }) => line),
        onProgress: (now, chars) => {
          setRun({ dryRun, outcome: now, chars, isDone: false })
          return !isStopped.current
        },
      })
      setRun({
        dryRun,
        outcome: { ...outcome, faulty: [...faulty, ...outcome.faulty] },
        chars: loaded.text.length,
        isDone: true,
      })
    } catch (error) {
      setRun(null)
      setProblem((error as Error).message)
    }
  }
  if (!mayImport) return <p className="empty">{t('You may not create users.')}</p>
  const isRunning = run !== null && !run.isDone
  const used = columns.filter((field) => field !== NO_FIELD)
  const repeated = used.find((field, index) => used.indexOf(field) !== index)
  return (
    <section className="screen user-screen import">
      <header className="screen-head">
        <h1>{t('Import users')}</h1>
      </header>
      <div className="sections">
        <section className="card">
          <div className="field">
            <label htmlFor="import-file">{t('CSV file of a spreadsheet')}</label>
            <input
              id="import-file"
              type="file"
              accept=".csv,.txt,text/csv"
              aria-describedby="import-hint"
              disabled={isRunning}
              onChange={({ target }) => void choose(target.files?.[0])}
            />
            <p className="hint" id="import-hint">
              {t(
                'Its first line names the columns. A user is found by the external id, the email address or the phone number, and changed; others are created.',
              )}
            </p>
          </div>
          {problem !== null && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
        </section>
        {loaded && (
          <section className="card">
            <h2>{t('Columns')}</h2>
            {loaded.isGuessed && (
              <p className="problem">
                {t(
                  'The file is not UTF-8. It is read as Windows-1252: look whether letters such as ä and é are right.',
                )}
              </p>
            )}
            <table className="rows">
              <thead>
                <tr>
                  <th scope="col">{t('Column')}</th>
                  <th scope="col">{t('First lines')}</th>
                  <th scope="col">{t('Field')}</th>
                </tr>
              </thead>
              <tbody>
                {loaded.header.columns.map(({ name, samples }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: names may occur twice, and the order is that of the file
                  <tr key={index}>
                    <th scope="row">{name}</th>
                    <td data-label={t('First lines')} className="samples">
                      {samples.filter(Boolean).join(' · ')}
                    </td>
                    <td data-label={t('Field')}>
                      <select
                        aria-label={t('Field of {name}', { name })}
                        value={columns[index]}
                        disabled={isRunning}
                        onChange={({ target }) => {
                          setColumns((former) =>
                            former.map((field, at) => (at === index ? target.value : field)),
                          )
                          setRun(null)
                        }}
                      >
                        <option value={NO_FIELD}>{t('Leave out')}</option>
                        {[...new Set([...loaded.header.fields, columns[index] ?? NO_FIELD])]
                          .filter((field) => field !== NO_FIELD)
                          .map((field) => (
                            <option key={field} value={field}>
                              {LABELS[field] ?? field}
                            </option>
                          ))}
                      </select>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {repeated !== undefined && (
              <p className="problem" role="alert">
                {t('{field} is chosen twice.', { field: LABELS[repeated] ?? repeated })}
              </p>
            )}
            <div className="actions">
              <button
                type="button"
                className="button"
                disabled={isRunning || used.length === 0 || repeated !== undefined}
                onClick={() => void start(true)}
              >
                {t('Check the file')}
              </button>
            </div>
          </section>
        )}
        {loaded && run && <Result loaded={loaded} run={run} onImport={() => void start(false)} />}
      </div>
    </section>
  )
}

/** What a try has found, or an import has done. */
function Result({ loaded, run, onImport }: { loaded: Loaded; run: Run; onImport: () => void }) {
  const { dryRun, outcome, chars, isDone } = run
  const { created, updated, unchanged, faulty } = outcome
  const good = created + updated + unchanged
  return (
    <section className="card">
      <h2>{dryRun ? t('Check') : t('Import')}</h2>
      {!isDone && (
        <p>
          <progress max={loaded.text.length} value={chars} aria-label={t('Progress')} />
        </p>
      )}
      <p role="status">
        {dryRun
          ? t('{created} to create, {updated} to change, {unchanged} as they are.', {
              created,
              updated,
              unchanged,
            })
          : t('{created} created, {updated} changed, {unchanged} as they were.', {
              created,
              updated,
              unchanged,
            })}{' '}
        {tCount(faulty.length, '{count} faulty line.', '{count} faulty lines.')}
      </p>
      {faulty.length > 0 && <FaultyLines lines={faulty} />}
      {isDone && (
        <div className="actions">
          {dryRun && good > 0 && (
            <button type="button" className="button" onClick={onImport}>
              {tCount(good, 'Import {count} line', 'Import {count} lines')}
            </button>
          )}
          {faulty.length > 0 && (
            <button type="button" className="button quiet" onClick={() => saveFaulty(loaded, faulty)}>
              {t('Download the faulty lines')}
            </button>
          )}
          {!dryRun && (
            <Link to="/users" className="button">
              {t('To the users')}
            </Link>
          )}
        </div>
      )}
    </section>
  )
}

const FaultyLines = ({ lines }: { lines: readonly FaultyLine[] }) => (
  <table className="rows faulty">
    <thead>
      <tr>
        <th scope="col">{t('Line')}</th>
        <th scope="col">{t('Reason')}</th>
        <th scope="col">{t('Cells')}</th>
      </tr>
    </thead>
    <tbody>
      {lines.slice(0, MAX_SHOWN).map(({ line, reason, cells }) => (
        <tr key={line}>
          <th scope="row">{line}</th>
          <td data-label={t('Reason')}>{reason}</td>
          <td data-label={t('Cells')}>{cells.filter(Boolean).join(' · ').slice(0, MAX_SHOWN_CHARS)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Saves the faulty lines, to be corrected in the spreadsheet and imported again. */
function saveFaulty({ name, header }: Loaded, lines: readonly FaultyLine[]): void {
  const names = header.columns.map((column) => column.name)
  const rows = lines.map(({ line, reason, cells }) => [
    ...names.map((_, at) => cells[at] ?? ''),
    line,
    reason,
  ])
  const head = [...names, t('Line'), t('Reason')]
  saveFile(`${name.replace(/\.\w+$/, '')}-${t('faulty')}.csv`, [
    new Blob(['\uFEFF', ...[head, ...rows].map((row) => toCsvLine(row, header.delimiter))]),
  ])
}
