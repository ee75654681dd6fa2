# The image of the sample controller; controllers/image/README.md describes it. `make image` builds the
# same files without Docker. An equal image needs equal packages: set DEBIAN to a digest,
# such as debian@sha256:….
#   docker build --tag sample-controller --build-arg REVISION="$(git rev-parse HEAD)" \
#     --build-arg SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" .
ARG DEBIAN=debian:bookworm-slim
FROM $DEBIAN AS build
RUN apt-get update && apt-get install --yes --no-install-recommends make
WORKDIR /src
COPY Makefile .
COPY tests/packages.sh tests/
RUN make image-packages
COPY . .
ARG SOURCE_DATE_EPOCH=0
RUN make image-tree SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH"

FROM scratch
COPY --from=build /src/build/image/tree /
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="sample-controller" \
      org.opencontainers.image.description="Creates a Deployment for every Foo" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/usr/bin/sample-controller"]
