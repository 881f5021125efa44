import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useLayoutEffect, useRef } from 'react'
import { t } from '../../words/words.ts'

const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operator], color: 'var(--accent)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--calm)' },
  { tag: [tags.variableName, tags.special(tags.variableName)], color: 'var(--warning)' },
  { tag: tags.comment, color: 'var(--quiet)' },
  { tag: tags.invalid, color: 'var(--danger)' },
])

const THEME = EditorView.theme({
  '&': { height: '100%', background: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-1px', borderRadius: 'var(--radius)' },
  '.cm-scroller': { font: '13px / 1.5 ui-monospace, monospace' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { background: 'none', border: '0', color: 'var(--quiet)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--raised)', outline: '1px solid var(--line)' },
  '.cm-tooltip': {
    background: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    font: '13px / 1.4 system-ui, sans-serif',
    overflow: 'hidden',
  },
  '.cm-tooltip .cm-tooltip-autocomplete ul, .cm-tooltip-autocomplete > ul': {
    font: '13px / 1.5 ui-monospace, monospace',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionIcon': { display: 'none' },
  '.cm-completionDetail': { float: 'inline-end', fontStyle: 'normal', opacity: '0.8' },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 10px', maxWidth: '320px' },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)' },
})

/**
 * Chromium keeps the looks of a text that is typed over by a style attribute, which the Content Security Policy does not permit
 * and the console of the browser reports. The editor replaces it by itself.
 */
const TYPE_OVER = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const [range] = event.getTargetRanges()
    const { inputType, data } = event
    if (!range || range.collapsed || inputType !== 'insertText' || data === null || view.composing)
      return false
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    const insert = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        userEvent: 'input.type',
        scrollIntoView: true,
      })
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, from, to, data, insert))
    if (!isHandled) view.dispatch(insert())
    return true
  },
})

const SHARED: Extension = [
  THEME,
  TYPE_OVER,
  syntaxHighlighting(COLORS),
  history(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion(),
  // Tab is left out: it leads on to the next field.
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...foldKeymap,
    ...historyKeymap,
    ...defaultKeymap,
  ]),
  EditorState.phrases.of({
    Completions: t('Completions'),
    Diagnostics: t('Problems'),
    'No diagnostics': t('No problems'),
    close: t('Close'),
    'Fold line': t('Fold the line'),
    'Unfold line': t('Unfold the line'),
  }),
]

/**
 * A text in a language of `extensions`, which do not change. CodeMirror writes style sheets; in a shadow root it constructs
 * them, which the Content Security Policy permits.
 */
export function CodeEditor({
  label,
  text,
  extensions,
  hasNumbers = false,
  onChange,
}: {
  label: string
  text: string
  extensions: Extension
  hasNumbers?: boolean
  /** Without it, the text is only read. */
  onChange?: (text: string) => void
}) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const isReadOnly = onChange === undefined
  const latest = useRef(onChange)
  latest.current = onChange
  const initial = useRef(text)
  initial.current = text
  useLayoutEffect(() => {
    if (!host.current) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      doc: initial.current,
      extensions: [
        extensions,
        SHARED,
        hasNumbers ? [lineNumbers(), foldGutter()] : [],
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(isReadOnly) }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) latest.current?.(state.doc.toString())
        }),
      ],
    })
    view.current = editor
    return () => editor.destroy()
  }, [extensions, hasNumbers, isReadOnly, label])
  useLayoutEffect(() => {
    const { current } = view
    if (!current || text === current.state.doc.toString()) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } })
  }, [text])
  return <div className="code-editor" ref={host} />
}
