/* A plugin of qemu's user-mode emulator: how many guest instructions a process executes, in all its threads.
 *
 *   qemu-aarch64 -plugin instruction_count_plugin.so,count=COUNT …
 *
 * When the process ends, the count is written to the file COUNT. Debian ships the emulator without the header of its
 * plugins, so the few declarations used here are repeated; they are the same from version 1 of the interface on.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct plugin_info;
struct block;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct block *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *, void (*)(unsigned int, void *), int flags, void *);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct block *);

/* The emulator refuses a plugin made for another version: INTERFACE is given to the compiler. */
int qemu_plugin_version = INTERFACE;

static const char COUNT_ARGUMENT[] = "count=";
static const int NO_REGISTERS = 0;

static uint64_t executed;
static char *path;

static void block_executed(unsigned int cpu, void *instructions)
{
    (void)cpu;
    __atomic_fetch_add(&executed, (uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void block_translated(plugin_id id, struct block *block)
{
    (void)id;
    void *instructions = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, block_executed, NO_REGISTERS, instructions);
}

static void process_ended(plugin_id id, void *data)
{
    (void)id;
    (void)data;
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return;
    }
    fprintf(file, "%llu\n", (unsigned long long)executed);
    fclose(file);
}

int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], COUNT_ARGUMENT, strlen(COUNT_ARGUMENT)) != 0)
        return -1;
    path = strdup(argv[0] + strlen(COUNT_ARGUMENT));
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, process_ended, NULL);
    return 0;
}
