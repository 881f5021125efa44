import { defineConfig, type Plugin } from 'vite'
import relay from 'vite-plugin-relay'

/** Modules of Relay that the console does not use, or that no feature flag selects. Its packages cannot be shaken. */
const UNUSED_MODULES =
  /\/re(act-relay|lay-runtime)\/.*\/(useFragmentInternal_CURRENT|useMutationAction_EXPERIMENTAL|\w+Experimental|EntryPointContainer\.react|loadEntryPoint|use(EntryPointLoader|PreloadedQuery|SubscribeToInvalidationState)|RelayQueryResponseCache|RelayDeclarativeMutationConfig|NormalizationEngine|applyOptimisticMutation|commitLocalUpdate|createFragmentSpecResolver|createPayloadFor3DField|createUpdatableProxy|experimental|fetchQuery_DEPRECATED|readInlineData)\.js$/
/** Relay's cache of client-side resolvers, of which the console has none. */
const RESOLVER_CACHE = /\/relay-runtime\/.*\/LiveResolverCache\.js$/
const EMPTY_RESOLVER_CACHE = `
class LiveResolverCache {
  batchLiveStateUpdates(update) { update() }
  batchLiveStateUpdatesWithoutNotify(update) { update(); return false }
  getLiveResolverPromise() {}
  invalidateDataIDs() {}
  invalidateResolverRecords() {}
  notifyUpdatedSubscribers() {}
  unsubscribeFromLiveResolverRecords() {}
}
module.exports = {
  LiveResolverCache,
  RELAY_RESOLVER_LIVE_STATE_SUBSCRIPTION_KEY: '__resolverLiveStateSubscription',
  getUpdatedDataIDs: (ids) => ids,
}`
/** The hooks that the first screen may need. */
const HOOKS = /\/react-relay\/lib\/hooks\.js$/
const FIRST_HOOKS = `
const { commitMutation, fetchQuery, graphql } = require('relay-runtime')
module.exports = {
  RelayEnvironmentProvider: require('./relay-hooks/RelayEnvironmentProvider'),
  commitMutation,
  fetchQuery,
  graphql,
  useFragment: require('./relay-hooks/useFragment'),
  useLazyLoadQuery: require('./relay-hooks/useLazyLoadQuery'),
  useMutation: require('./relay-hooks/useMutation'),
  useRelayEnvironment: require('./relay-hooks/useRelayEnvironment'),
  useSubscription: require('./relay-hooks/useSubscription'),
}`
/** The hook of lists, which is imported by the path of its types, and what it alone needs. */
const LIST_HOOK = 'react-relay/relay-hooks/usePaginationFragment'
const LIST_MODULES =
  /react-relay[\\/](lib[\\/])?relay-hooks[\\/](usePaginationFragment|useRefetchableFragment|useLoadMoreFunction|useQueryLoader|loadQuery|getConnectionState|useFetchTrackingRef|useIsOperationNodeActive)/
/** What Babel adds to Relay for browsers that are older than the target. */
const OLD_BROWSERS =
  /\/(@babel\/runtime\/helpers\/(objectSpread2|toConsumableArray|createForOfIteratorHelper)|use-sync-external-store\/shim\/index)\.js$/
const FOR_TARGET: Record<string, string> = {
  objectSpread2: 'module.exports = (target, ...sources) => Object.assign(target, ...sources)',
  toConsumableArray: 'module.exports = (items) => [...items]',
  createForOfIteratorHelper: `module.exports = (items) => {
    let iterator, step
    return {
      s() { iterator = items[Symbol.iterator]() },
      n: () => (step = iterator.next()),
      e(error) { throw error },
      f() { if (step?.done === false) iterator.return?.() },
    }
  }`,
  'use-sync-external-store/shim/index':
    "module.exports = { useSyncExternalStore: require('react').useSyncExternalStore }",
}

/** Packages of the first screen. */
const VENDOR_MODULES = /node_modules[\\/](?!graphql-ws|dpop|swagger-ui-dist)/
const withoutUnusedModules: Plugin = {
  name: 'without-unused-modules',
  enforce: 'pre',
  resolveId: (id) => (id === LIST_HOOK ? `\0${LIST_HOOK}` : null),
  load(id) {
    if (id === `\0${LIST_HOOK}`)
      return "export { default as usePaginationFragment } from 'react-relay/lib/relay-hooks/usePaginationFragment'"
    if (UNUSED_MODULES.test(id)) return 'module.exports = {}'
    const helper = OLD_BROWSERS.exec(id)
    if (helper) return FOR_TARGET[helper[2] ?? (helper[1] as string)]
    if (RESOLVER_CACHE.test(id)) return EMPTY_RESOLVER_CACHE
    return HOOKS.test(id) ? FIRST_HOOKS : null
  },
}

/** Modules of the first screen. Those that other screens have as well would be as many small files, which compress badly. */
const FIRST_MODULES =
  /\/console\/src\/(api\/|auth\/|config|shell\/(?!box|shortcuts|tenant-switcher)|parts\/(avatar|copied-text|live-events|notices|skeleton|time)\.)/

/** The editor of the API screen, and the schema that it knows. */
const EDITOR_MODULES =
  /node_modules[\\/](@codemirror|@lezer|@marijn|cm6-graphql|crelt|debounce-promise|graphql|graphql-language-service|nullthrows|style-mod|vscode-languageserver-types|w3c-keyname)[\\/]|\/schema\.graphql/

export default defineConfig({
  // The server has the files of all tenants here; their names have a hash of the content.
  base: '/assets/console/',
  plugins: [relay, withoutUnusedModules],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsDir: '.',
    manifest: 'manifest.json',
    // An inlined file would need an exception in the Content Security Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      input: ['index.html', 'reference.html'],
      output: {
        // One file of what the first screen needs compresses better than two. The other packages come when they are needed.
        codeSplitting: {
          groups: [
            { name: 'editor', test: EDITOR_MODULES },
            { name: 'vendor', test: (id) => VENDOR_MODULES.test(id) && !LIST_MODULES.test(id) },
            { name: 'lists', test: LIST_MODULES },
            { name: 'first', test: FIRST_MODULES },
          ],
        },
      },
    },
  },
})
