export default {
  // They load files of their own at run time.
  serverExternalPackages: ["atlasqueue", "@atlasqueue/core"],
  // The dashboard is at /admin/queues/, with the slash.
  skipTrailingSlashRedirect: true,
};
